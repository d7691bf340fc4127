// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace OrthancPerf
{
  // SHA-1 of what identifies an instance. Patient ID is part of it and cannot be read from it.
  using InstanceDigest = std::array<std::uint32_t, 5>;

  // As Orthanc writes its identifier of the instance
  std::string FormatInstanceId(const InstanceDigest& digest);
}
