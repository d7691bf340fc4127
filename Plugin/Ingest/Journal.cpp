// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Journal.h"

#include <utility>

namespace OrthancPerf
{
  Journal::Journal(std::vector<IJournalObserver*> observers) : observers_(std::move(observers))
  {
  }

  void Journal::Publish(const FinishedInstance& instance) const noexcept
  {
    for (IJournalObserver* observer : observers_)
    {
      observer->OnInstanceFinished(instance);
    }
  }


  void Journal::Publish(const FinishedAssociation& association) const noexcept
  {
    for (IJournalObserver* observer : observers_)
    {
      observer->OnAssociationFinished(association);
    }
  }
}
