// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // A DICOM file, in Explicit VR Little Endian, in JPEG Lossless SV1, from memory to memory, in one
  // thread: what each of the benchmark's programs does with its library. Throws std::exception.
  std::string EncodeFile(const std::string& file);
}
