// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/Access/RegisteredUsers.h"
#include "Rest/Access/TrustedProxies.h"
#include "Rest/RestMessage.h"

namespace OrthancPerf
{
  // Who sends requests to /perf. Owned by the plugin's context; constant, any thread.
  struct RequestSenders
  {
    const RegisteredUsers users;
    const TrustedProxies proxies;

    // Says in the request who sends it; "address" is the one that reached Orthanc; empty: the
    // request comes from inside, where nobody has checked what its headers say
    void Identify(RestRequest& request, const std::string& address) const;
  };
}
