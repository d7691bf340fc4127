// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // What DCMTK does to its sockets of its own accord, by its two environment variables (file
  // envvars.txt of its documentation; DUL_... in dul.cc and dulfsm.cc): this is what a DICOM
  // socket goes back to when the plugin no longer sets an option. A value, read once.
  struct DcmtkEnvironment
  {
    bool noDelay = false;                       // TCP_NODELAY; what DCMTK does of its own accord,
                                                // as in official builds, its sockets tell
    std::optional<std::uint32_t> bufferLength;  // TCP_BUFFER_LENGTH; absent: the system's

    // From the environment of this process
    static DcmtkEnvironment Read();

    // From the values of the two variables, null where one is not set
    static DcmtkEnvironment Parse(const char* noDelay, const char* bufferLength);
  };
}
