// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Makes the element of encapsulated Pixel Data, DICOM PS3.5 section A.4: a Basic Offset Table,
  // then one fragment for each frame. The table is left empty for one frame, which needs none, and
  // where an offset would not fit into its 32 bits.
  //
  // Lives on the stack of one thread.
  class EncapsulatedPixels
  {
  public:
    explicit EncapsulatedPixels(std::size_t frames);

    // To its end goes the next frame, between these two calls
    std::string& BeginFrame();

    // Throws std::length_error if the frame is too long for a fragment
    void EndFrame();

    // The whole element. Call it once, after the last frame.
    std::string Finish();

  private:
    void WriteOffsets();

    std::string element_;
    std::size_t frames_;
    std::size_t firstItem_ = 0;
    std::size_t content_ = 0;  // of the current item
    std::vector<std::size_t> offsets_;
  };
}
