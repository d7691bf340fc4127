// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Native/DifferenceCoder.h"

#include <string>

namespace OrthancPerf
{
  // Appends a frame as JPEG, lossless, process 14, selection value 1 (ITU-T T.81 annex H), to
  // "target": 8 or 16 bits of precision, after the width of the samples in memory, so that all
  // their bits survive; Huffman tables made for this frame; components interleaved in one scan.
  // Rows and columns from 1 to 65535. Any thread may call it.
  void EncodeJpegLossless(const RasterFrame& frame, std::string& target);
}
