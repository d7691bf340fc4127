// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Ingest/FinishedInstance.h"
#include "Ingest/FinishedRequest.h"

#include <exception>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // Whoever wants to know of finished instances, associations and requests: metrics, the list of
  // recent instances, the advisor's evidence. Called on the ingesting thread, on that of a request
  // below /perf, or by housekeeping: so it must be done in microseconds, must not call Orthanc, and
  // serializes itself. An exception costs this observer this one instance, association or request,
  // and nobody else anything.
  class IJournalObserver
  {
  public:
    virtual ~IJournalObserver() = default;

    virtual void OnInstanceFinished(const FinishedInstance&)
    {
    }

    virtual void OnAssociationFinished(const FinishedAssociation&)
    {
    }

    virtual void OnRequestFinished(const FinishedRequest&)
    {
    }
  };

  // Hands each finished instance, association and request to all observers. Owned by the plugin's
  // context; the observers are given once, before the first instance, and outlive the journal. Any
  // thread may publish.
  class Journal
  {
  public:
    explicit Journal(std::vector<IJournalObserver*> observers) : observers_(std::move(observers))
    {
    }

    void Publish(const FinishedInstance& instance) const noexcept
    {
      Publish(&IJournalObserver::OnInstanceFinished, instance);
    }

    void Publish(const FinishedAssociation& association) const noexcept
    {
      Publish(&IJournalObserver::OnAssociationFinished, association);
    }

    void Publish(const FinishedRequest& request) const noexcept
    {
      Publish(&IJournalObserver::OnRequestFinished, request);
    }

  private:
    template <typename Event>
    void Publish(void (IJournalObserver::*observe)(const Event&), const Event& event) const noexcept
    {
      for (IJournalObserver* observer : observers_)
      {
        try
        {
          (observer->*observe)(event);
        }
        catch (const std::exception&)
        {
          // Out of memory: one uncounted is better than Orthanc down
        }
      }
    }

    const std::vector<IJournalObserver*> observers_;
  };
}
