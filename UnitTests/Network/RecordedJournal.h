// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/ConnectionTracker.h"

#include <vector>

namespace OrthancPerf
{
  // What a tracker has told the journal so far
  class RecordedJournal : public IJournalObserver
  {
  public:
    // Takes up what is over meanwhile
    RecordedJournal& Drain(ConnectionTracker& tracker)
    {
      tracker.events.Drain(journal_);
      return *this;
    }

    void OnInstanceFinished(const FinishedInstance& instance) noexcept override
    {
      instances.push_back(instance);
    }

    void OnAssociationFinished(const FinishedAssociation& association) noexcept override
    {
      associations.push_back(association);
    }

    std::vector<FinishedInstance> instances;
    std::vector<FinishedAssociation> associations;

  private:
    Journal journal_{{this}};
  };
}
