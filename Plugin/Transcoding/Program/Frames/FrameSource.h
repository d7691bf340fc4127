// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/FrameFragments.h"
#include "Dicom/ImageDescription.h"
#include "Transcoding/Program/Frames/FrameCodec.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // Decodes a compressed frame to samples of the format, by pixel. No colour is converted. The
  // frame has to be what its data set says (PixelDataFlaw.h). Throws CodecError or NotCovered.
  std::string DecodeFrame(const IFrameCodec& codec, CodestreamKind kind, const FrameFormat& format,
                          std::string_view frame);


  // The frames of an image as samples by pixel. One decoded frame is held at a time, all of them
  // where their range is measured, as each is decoded once. Native frames by pixel are not copied.
  //
  // Lives on the stack of one thread. Codec, description and file outlive it.
  class FrameSource
  {
  public:
    // Of an image that Obstacles.h has nothing against. Throws CodecError.
    FrameSource(const IFrameCodec& codec, const ImageDescription& image);

    FrameSource(const FrameSource&) = delete;
    FrameSource& operator=(const FrameSource&) = delete;

    const FrameFormat& GetFormat() const noexcept
    {
      return format_;
    }

    // Photometric Interpretation of the decoded frames
    std::string_view GetColors() const noexcept
    {
      return colors_;
    }

    std::size_t GetCount() const noexcept
    {
      return image_.frames;
    }

    // Valid until the next call. Throws CodecError or NotCovered.
    std::string_view Get(std::size_t index);

    // Of all samples, and of those that are no padding; decodes all frames
    void MeasureRange(SampleRange& range, SampleRange& unpadded);

    // Whether one of the frames so far was compressed with loss. DICOM PS3.3 section C.7.6.1.1.5:
    // the transfer syntax may have been the only thing that said so.
    bool HasLoss() const noexcept
    {
      return hasLoss_;
    }

  private:
    std::string_view GetNative(std::size_t index);
    std::string_view GetEncapsulated(std::size_t index);

    const IFrameCodec& codec_;
    const ImageDescription& image_;
    const TransferSyntax& syntax_;
    const FrameFormat format_;
    std::string_view colors_;
    bool hasLoss_ = false;
    std::vector<FrameFragments> fragments_;  // of each encapsulated frame
    bool isMeasured_ = false;
    std::vector<std::string> decoded_{1};  // by frame if they were measured, else the latest one
  };
}
