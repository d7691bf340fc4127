// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // The fragments that hold one frame; they point into the file
  using FrameFragments = std::vector<std::string_view>;

  // Finds the frames of encapsulated Pixel Data (DICOM PS3.5 section A.4), given as a whole element
  // in Explicit VR Little Endian. Frames of one fragment each need no offset table; where frames
  // have several, the Basic Offset Table says which belong together, and if it is empty or wrong,
  // the marker with which a JPEG, JPEG-LS or JPEG 2000 codestream begins. Throws CodecError if this
  // gives another number of frames than "count".
  std::vector<FrameFragments> FindFrames(std::string_view element, std::size_t count);
}
