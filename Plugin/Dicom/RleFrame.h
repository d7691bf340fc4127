// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // The segments of a frame of RLE: DICOM PS3.5 section G.5. Each holds one byte of each sample of
  // one component, the most significant byte first.
  using RleSegments = std::vector<std::string_view>;

  // Takes a frame apart that has "count" segments, each of exactly "size" bytes when it is decoded.
  // What may follow them, padding, is left out. Throws CodecError if the frame is not like that.
  RleSegments SplitRleFrame(std::string_view frame, std::size_t count, std::size_t size);

  // Makes a frame of segments: each gets an even length, as section G.3.1 wants it
  std::string JoinRleSegments(const RleSegments& segments);

  // Between a frame and its samples, which lie by pixel, row by row, in little endian: "samples" of
  // a pixel, each of "bytes". DecodeRleFrame throws CodecError as SplitRleFrame does.
  std::string EncodeRleFrame(std::string_view frame, std::size_t columns, std::size_t samples,
                             std::size_t bytes);
  std::string DecodeRleFrame(std::string_view frame, std::size_t pixels, std::size_t samples,
                             std::size_t bytes);
}
