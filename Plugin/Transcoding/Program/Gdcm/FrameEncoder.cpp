// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameEncoder.h"

#include "Dicom/CodecError.h"
#include "Transcoding/LossySettings.h"
#include "Transcoding/Program/Gdcm/FrameEncoders.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* JPEG_BASELINE = "1.2.840.10008.1.2.4.50";
    constexpr const char* JPEG_EXTENDED = "1.2.840.10008.1.2.4.51";
    constexpr const char* JPEG_LOSSLESS = "1.2.840.10008.1.2.4.57";
    constexpr const char* JPEG_LOSSLESS_SV1 = "1.2.840.10008.1.2.4.70";
    constexpr const char* JPEG_LS_LOSSLESS = "1.2.840.10008.1.2.4.80";
    constexpr const char* JPEG_LS_NEAR_LOSSLESS = "1.2.840.10008.1.2.4.81";
    constexpr const char* JPEG_2000_LOSSLESS = "1.2.840.10008.1.2.4.90";
    constexpr const char* JPEG_2000 = "1.2.840.10008.1.2.4.91";
    constexpr const char* RLE_LOSSLESS = "1.2.840.10008.1.2.5";
  }


  std::unique_ptr<FrameEncoder> MakeFrameEncoder(const FramesToEncode& frames,
                                                 const TranscodingTarget& target)
  {
    const std::string& syntax = target.transferSyntax;

    if (syntax == RLE_LOSSLESS)
    {
      return MakeRleEncoder(frames);
    }

    if (frames.format.bitsAllocated > 16)
    {
      throw NotCovered("GDCM compresses more than 16 Bits Allocated to RLE only");
    }

    if (syntax == JPEG_BASELINE || syntax == JPEG_EXTENDED)
    {
      return MakeJpegLossyEncoder(frames, target.lossyQuality, syntax == JPEG_BASELINE);
    }

    if (syntax == JPEG_LOSSLESS || syntax == JPEG_LOSSLESS_SV1)
    {
      return MakeJpegLosslessEncoder(frames);
    }

    if (syntax == JPEG_LS_LOSSLESS || syntax == JPEG_LS_NEAR_LOSSLESS)
    {
      const bool isLossless = syntax == JPEG_LS_LOSSLESS;
      return MakeJpegLsEncoder(frames, isLossless ? 0 : GetNearLosslessError(target.lossyQuality));
    }

    if (syntax == JPEG_2000_LOSSLESS || syntax == JPEG_2000)
    {
      return MakeJpeg2000Encoder(frames, syntax == JPEG_2000_LOSSLESS ? 0 : target.lossyQuality);
    }

    throw NotCovered("GDCM does not write this transfer syntax");
  }
}
