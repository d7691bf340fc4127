// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Journal.h"

#include <exception>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    template <typename Event>
    void Tell(const std::vector<IJournalObserver*>& observers,
              void (IJournalObserver::*observe)(const Event&), const Event& event) noexcept
    {
      for (IJournalObserver* observer : observers)
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
  }


  Journal::Journal(std::vector<IJournalObserver*> observers) : observers_(std::move(observers))
  {
  }


  void Journal::Publish(const FinishedInstance& instance) const noexcept
  {
    Tell(observers_, &IJournalObserver::OnInstanceFinished, instance);
  }


  void Journal::Publish(const FinishedAssociation& association) const noexcept
  {
    Tell(observers_, &IJournalObserver::OnAssociationFinished, association);
  }


  void Journal::Publish(const FinishedRequest& request) const noexcept
  {
    Tell(observers_, &IJournalObserver::OnRequestFinished, request);
  }
}
