// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // The fragments that hold one frame; they point into the file
  using FrameFragments = std::vector<std::string_view>;

  // Finds the frames of encapsulated Pixel Data (DICOM PS3.5 section A.4), given as a whole element
  // in Explicit VR Little Endian: where a codestream begins, so does a frame. Of RLE, which has no
  // such marker, each fragment is a frame (section A.4.2). A Basic Offset Table may be empty, but
  // what it says has to be true, as viewers may follow it. Throws CodecError otherwise, and if
  // there are not "count" frames.
  std::vector<FrameFragments> FindFrames(std::string_view element, std::string_view transferSyntax,
                                         std::size_t count);

  // The frame in one piece. "storage" gets it if it has to be put together.
  std::string_view Join(const FrameFragments& fragments, std::string& storage);

  // Padding makes fragments even; some encoders fill up with more, and DCMTK pads JPEG-LS with
  // what its buffer held before
  bool IsFragmentPadding(std::string_view rest) noexcept;
}
