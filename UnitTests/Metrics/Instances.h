// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"

#include <string>

namespace OrthancPerf
{
  // A stored instance of 1000 bytes from this peer, by C-STORE, with four phases
  inline FinishedInstance MakeInstance(const std::string& peer)
  {
    FinishedInstance instance;
    instance.instanceId = "6e2c0ec2-5d99c8ca-c1c21cee-79a09605-68391d12";
    instance.origin = Origin::DicomProtocol;
    instance.outcome = Outcome::Stored;
    instance.peer = {peer, "192.0.2.1"};
    instance.size = 1000;
    instance.phases.Add(Phase::Receive, std::chrono::milliseconds(40));
    instance.phases.Add(Phase::Parse, std::chrono::microseconds(100));
    instance.phases.Add(Phase::Storage, std::chrono::milliseconds(2));
    instance.phases.Add(Phase::Index, std::chrono::milliseconds(1));
    return instance;
  }
}
