// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameEncoders.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Gdcm/EncoderTools.h"

#include <gdcmJPEGLSCodec.h>

namespace OrthancPerf
{
  namespace
  {
    class JpegLsEncoder : public FrameEncoder
    {
    public:
      // "error": no sample differs by more
      JpegLsEncoder(const FramesToEncode& frames, int error) :
        frames_(frames),
        error_(error),
        bits_(GetLosslessBits(frames, 2))
      {
        constexpr std::size_t MINIMUM_PIXELS = 64;

        if (error > 0)
        {
          CheckLossySource(frames);
          CheckError();
        }

        if (frames.format.rows * frames.format.columns < MINIMUM_PIXELS)
        {
          throw NotCovered("The buffer that GDCM has for JPEG-LS is too small for so few pixels");
        }
      }

      std::string Encode(std::string_view frame) const override
      {
        gdcm::JPEGLSCodec codec;
        codec.SetLossless(error_ == 0);
        codec.SetLossyError(error_);
        SetUp(codec, frames_.format, bits_, false, GetColors(frames_));
        return EncodeFrame(codec, frame);
      }

      std::string GetPhotometricInterpretation() const override
      {
        return frames_.photometricInterpretation;
      }

    private:
      // An eighth of all values there are is the most that makes sense. No sample differs by more
      // than the error, and CharLS keeps them within the bits that it encodes.
      void CheckError() const
      {
        const SampleRange reached = {frames_.range.minimum - error_,
                                     frames_.range.maximum + error_};

        if (8 * error_ > 1 << frames_.format.bitsStored)
        {
          throw NotCovered("The error of lossy compression would be large for so few bits");
        }

        if (bits_ > frames_.format.bitsStored &&
            !reached.FitsInto(SampleRange::Allowed(frames_.format)))
        {
          throw NotCovered("Lossy compression would make samples exceed Bits Stored");
        }
      }

      const FramesToEncode frames_;
      const int error_;
      const unsigned int bits_;
    };
  }


  std::unique_ptr<FrameEncoder> MakeJpegLsEncoder(const FramesToEncode& frames, int error)
  {
    return std::make_unique<JpegLsEncoder>(frames, error);
  }
}
