// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Probe.h"

#include "Network/WatchedFunctions.h"

#include <utility>

namespace OrthancPerf
{
  Probe::Probe(WatchedPlaces places, MessageRecorder& recorder, GotPatcher::ModuleFilter filter) :
    connections_(recorder.GetConnections()),
    tracker_(recorder, std::move(places)),
    context_{tracker_, settings_, admission_},
    patcher_(GetWatchedFunctions(), reinterpret_cast<const void*>(&GetWatchedFunctions),
             std::move(filter))
  {
  }

  Probe::~Probe()
  {
    Remove();
  }

  bool Probe::Install()
  {
    if (!isEntered_ && !EnterContext(context_))
    {
      problem_ = "another probe is installed in this process";
      return false;
    }

    isEntered_ = true;
    patcher_.Refresh();
    problem_ = patcher_.GetProblem();

    if (!problem_.empty())
    {
      Remove();  // a half of it would tell half of what happens
    }

    return problem_.empty();
  }

  void Probe::Remove()
  {
    if (isEntered_)
    {
      patcher_.Restore();
      LeaveContext(context_);
      connections_.Clear();  // what is closed from now on is not seen
      admission_.Clear();
      isEntered_ = false;
    }
  }

  const std::string& Probe::GetProblem() const
  {
    return problem_;
  }

  std::vector<RedirectionState> Probe::GetStates() const
  {
    return patcher_.GetStates();
  }
}
