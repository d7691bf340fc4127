// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/CodestreamHeader.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/Program/Samples.h"

#include <memory>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // What the frames of one image are to become. A value; it points at texts of its maker.
  struct EncodingTask
  {
    const TransferSyntax& target;
    unsigned int quality;  // of lossy targets, 1 to 100
    bool isLossy;          // near-lossless JPEG-LS without an error is not
    FrameFormat format;
    std::string_view colors;  // Photometric Interpretation of the samples
    SampleRange range;        // of lossy targets: of the samples of all frames
    SampleRange unpadded;     // of those that are no padding, to which the quality refers

    bool IsRgb() const noexcept
    {
      return format.samples == 3 && colors == "RGB";
    }

    // Whether Bits Stored says all of each sample, from bit 0 on
    bool HasStoredBitsOnly() const noexcept
    {
      return format.IsRightAligned() && range.FitsInto(SampleRange::Allowed(format));
    }
  };

  // A codec library, frame by frame: JPEG, JPEG-LS and JPEG 2000. FrameTranscoding does the rest,
  // and asks only for what CanDecode() and CanEncode() promise, of images that Obstacles.h lets
  // pass. Owned by FrameTranscoding; one thread.
  //
  // Functions throw CodecError, or NotCovered for what only decoded samples show.
  class IFrameCodec
  {
  public:
    virtual ~IFrameCodec() = default;

    virtual const char* GetLibrary() const noexcept = 0;  // "DCMTK"

    virtual bool CanDecode(CodestreamKind kind) const noexcept = 0;
    virtual bool CanEncode(const TransferSyntax& target) const noexcept = 0;

    // The samples by pixel, without any conversion of colours; of up to 8 bits, in a byte each, of
    // more in two. The frame is what "format" and "header" say: libraries allocate what a header
    // asks for, and assertions may end the process.
    virtual std::string Decode(CodestreamKind kind, const FrameFormat& format,
                               const CodestreamHeader& header, std::string_view frame) const = 0;

    // The codestream. Lossless targets keep all allocated bits, those above High Bit included.
    virtual std::string Encode(const EncodingTask& task, std::string_view frame) const = 0;
  };

  // That of the library that this program has, DcmtkCodec.cpp or GdcmCodec.cpp. One per process;
  // the library prints nothing from then on.
  std::unique_ptr<const IFrameCodec> MakeFrameCodec();
}
