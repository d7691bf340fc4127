// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // Who asked for a change of the tuning. A value; both texts are printable and bounded.
  struct TuningAuthor
  {
    std::string user;     // as signed in to Orthanc; empty: Orthanc did not ask for one
    std::string address;  // of the HTTP client; empty: a request from inside Orthanc

    // "by the user "alice" from 10.0.0.5"
    std::string Describe() const
    {
      return address.empty()
                 ? "from inside Orthanc, by a script or another plugin"
                 : (user.empty() ? "" : "by the user \"" + user + "\" ") + "from " + address;
    }
  };
}
