// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // Why a file that an engine has written can't take the place of its source: Orthanc could not
  // read it, or it is another instance, or in another transfer syntax than was asked for. Empty:
  // nothing speaks against it. Microseconds; any thread may call it.
  std::string FindFlaw(const std::string& file, const std::string& transferSyntax,
                       const std::string& sopInstanceUid);
}
