// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>

namespace OrthancPerf
{
  // Beside DCMTK, Orthanc has a reader of its own for the File Meta Information, which looks
  // after the prefix only and knows no other encoding than the standard's. It gives up quietly on
  // most errors, but refuses the file for a VR that it does not know
  // (DicomMap::ParseDicomMetaInformation).
  //
  // Whether it refuses these bytes, which begin with preamble and prefix. Allocates nothing; any
  // thread may call it.
  bool IsFileMetaRefused(const void* data, std::size_t size) noexcept;
}
