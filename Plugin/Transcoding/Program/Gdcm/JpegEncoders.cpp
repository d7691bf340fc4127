// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameEncoders.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Gdcm/EncoderTools.h"

#include <gdcmJPEGCodec.h>

namespace OrthancPerf
{
  namespace
  {
    class JpegLosslessEncoder : public FrameEncoder
    {
    public:
      explicit JpegLosslessEncoder(const FramesToEncode& frames) :
        frames_(frames),
        bits_(GetLosslessBits(frames, 8))
      {
        CheckDimensions(frames.format);
      }

      std::string Encode(std::string_view frame) const override
      {
        // libjpeg knows these three
        const unsigned int bits = bits_ <= 8 ? 8 : bits_ <= 12 ? 12 : 16;
        gdcm::JPEGCodec codec;
        codec.SetLossless(true);
        SetUp(codec, frames_.format, bits, false, GetColors(frames_));
        return EncodeFrame(codec, frame);
      }

      std::string GetPhotometricInterpretation() const override
      {
        return frames_.photometricInterpretation;
      }

    private:
      const FramesToEncode frames_;
      const unsigned int bits_;
    };


    class JpegLossyEncoder : public FrameEncoder
    {
    public:
      JpegLossyEncoder(const FramesToEncode& frames, unsigned int quality, bool isBaseline) :
        frames_(frames),
        quality_(quality),
        bits_(frames.format.bitsAllocated == 8 ? 8 : 12)
      {
        CheckLossySource(frames);
        CheckDimensions(frames.format);

        if (frames.format.isSigned)
        {
          throw NotCovered("JPEG has no signed samples");
        }

        if (frames.format.bitsStored > (isBaseline ? 8 : 12) || (isBaseline && bits_ > 8))
        {
          throw NotCovered(isBaseline ? "JPEG Baseline has 8 bits, allocated and stored"
                                      : "JPEG Extended has at most 12 bits");
        }
      }

      std::string Encode(std::string_view frame) const override
      {
        gdcm::JPEGCodec codec;
        codec.SetLossless(false);
        codec.SetQuality(quality_);
        SetUp(codec, frames_.format, bits_, false, GetColors(frames_));
        return EncodeFrame(codec, frame);
      }

      // libjpeg makes YCbCr of RGB, and of its chrominance a quarter
      std::string GetPhotometricInterpretation() const override
      {
        return frames_.format.samples == 3 ? "YBR_FULL_422" : frames_.photometricInterpretation;
      }

      bool MayExceedRange() const override
      {
        return bits_ > frames_.format.bitsStored;
      }

    private:
      const FramesToEncode frames_;
      const unsigned int quality_;
      const unsigned int bits_;
    };
  }


  std::unique_ptr<FrameEncoder> MakeJpegLosslessEncoder(const FramesToEncode& frames)
  {
    return std::make_unique<JpegLosslessEncoder>(frames);
  }


  std::unique_ptr<FrameEncoder> MakeJpegLossyEncoder(const FramesToEncode& frames,
                                                     unsigned int quality, bool isBaseline)
  {
    return std::make_unique<JpegLossyEncoder>(frames, quality, isBaseline);
  }
}
