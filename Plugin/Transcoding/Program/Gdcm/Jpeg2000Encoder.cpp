// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameEncoders.h"

#include "Dicom/CodecError.h"
#include "Transcoding/LossySettings.h"
#include "Transcoding/Program/Gdcm/CodecBuffer.h"
#include "Transcoding/Program/Gdcm/EncoderTools.h"

#include <algorithm>
#include <cmath>
#include <gdcmJPEG2000Codec.h>

namespace OrthancPerf
{
  namespace
  {
    class Jpeg2000Encoder : public FrameEncoder
    {
    public:
      // "quality": 1 to 100, zero for lossless
      Jpeg2000Encoder(const FramesToEncode& frames, unsigned int quality) :
        frames_(frames),
        quality_(quality)
      {
        if (quality > 0)
        {
          CheckLossySource(frames);
        }

        CheckSize();
      }

      std::string Encode(std::string_view frame) const override
      {
        const FrameFormat& format = frames_.format;
        gdcm::JPEG2000Codec codec;
        SetUp(codec, format, format.bitsAllocated, format.isSigned, GetColors(frames_));
        codec.SetMCT(IsRgb(frames_) ? 1 : 0);
        codec.SetReversible(quality_ == 0);

        if (quality_ > 0)
        {
          codec.SetQuality(0, GetJpeg2000Fidelity(quality_) + GetUnusedRange());
        }

        gdcm::DataElement encoded;

        if (!codec.Code(MakeBytes(frame), encoded))
        {
          // Where pixels have more than 4 bytes, GDCM's buffer is too small for what is hard to
          // compress
          throw NotCovered("GDCM could not write a frame in JPEG 2000");
        }

        return GetFragment(encoded);
      }

      std::string GetPhotometricInterpretation() const override
      {
        if (IsRgb(frames_))
        {
          return quality_ == 0 ? "YBR_RCT" : "YBR_ICT";
        }

        return frames_.photometricInterpretation;
      }

      bool MayExceedRange() const override
      {
        return quality_ > 0 && frames_.format.bitsAllocated > frames_.format.bitsStored;
      }

    private:
      // In decibels. GDCM encodes all allocated bits, and the peak of its signal to noise ratio is
      // their largest value: CT of 12 bits in 16 would be treated as if all of it was noise.
      double GetUnusedRange() const
      {
        const auto used = static_cast<double>(frames_.range.maximum - frames_.range.minimum);
        const double all = std::pow(2.0, frames_.format.bitsAllocated) - 1.0;
        return 20.0 * std::log10(all / std::max(used, 1.0));
      }

      // GDCM writes, unchecked, into a buffer of twice the size of the pixels
      void CheckSize() const
      {
        constexpr std::size_t MINIMUM_SIZE = 768;

        if (frames_.format.rows < 2 || frames_.format.columns < 2 ||
            frames_.format.GetFrameSize() < MINIMUM_SIZE)
        {
          throw NotCovered("GDCM does not write JPEG 2000 safely with so few pixels");
        }
      }

      const FramesToEncode frames_;
      const unsigned int quality_;
    };
  }


  std::unique_ptr<FrameEncoder> MakeJpeg2000Encoder(const FramesToEncode& frames,
                                                    unsigned int quality)
  {
    return std::make_unique<Jpeg2000Encoder>(frames, quality);
  }
}
