// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Gdcm/FrameEncoder.h"

#include "Transcoding/Gdcm/CodecBuffer.h"
#include "Transcoding/CodecError.h"
#include "Transcoding/RleFrame.h"
#include "Transcoding/Gdcm/SampleLayout.h"
#include "Transcoding/LossySettings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <gdcmJPEG2000Codec.h>
#include <gdcmJPEGCodec.h>
#include <gdcmJPEGLSCodec.h>
#include <gdcmRLECodec.h>
#include <vector>

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

    bool IsRgb(const FramesToEncode& frames)
    {
      return frames.format.samples == 3 && frames.photometricInterpretation == "RGB";
    }

    // "bits" of each sample are encoded
    void SetUp(gdcm::ImageCodec& codec, const FrameFormat& format, unsigned int bits, bool isSigned,
               gdcm::PhotometricInterpretation::PIType colors)
    {
      const std::array<unsigned int, 3> dimensions = {static_cast<unsigned int>(format.columns),
                                                      static_cast<unsigned int>(format.rows), 1};
      codec.SetNumberOfDimensions(2);
      codec.SetDimensions(dimensions.data());
      codec.SetPlanarConfiguration(0);
      codec.SetPhotometricInterpretation(colors);
      codec.SetNeedOverlayCleanup(false);
      codec.SetPixelFormat(gdcm::PixelFormat(
          static_cast<unsigned short>(format.samples), static_cast<unsigned short>(bits),
          static_cast<unsigned short>(bits), static_cast<unsigned short>(bits - 1),
          isSigned ? 1 : 0));
    }

    // What the codecs of GDCM do with colours depends on this; none of them converts YBR_FULL
    gdcm::PhotometricInterpretation::PIType GetColors(const FramesToEncode& frames)
    {
      if (frames.format.samples == 1)
      {
        return gdcm::PhotometricInterpretation::MONOCHROME2;
      }

      return IsRgb(frames) ? gdcm::PhotometricInterpretation::RGB
                           : gdcm::PhotometricInterpretation::YBR_FULL;
    }

    std::string Run(gdcm::ImageCodec& codec, std::string_view frame)
    {
      gdcm::DataElement encoded;

      if (!codec.Code(MakeBytes(frame), encoded))
      {
        throw CodecError("GDCM could not encode a frame");
      }

      return GetFragment(encoded);
    }

    // Longer rows than libjpeg (JPEG_MAX_DIMENSION) or GDCM's RLE encoder has room for
    void CheckDimensions(const FrameFormat& format)
    {
      constexpr std::size_t MAXIMUM = 65000;

      if (format.rows > MAXIMUM || format.columns > MAXIMUM)
      {
        throw NotCovered("GDCM does not encode more than 65,000 rows or columns in this syntax");
      }
    }

    // How many bits of each sample have to be encoded so that all come back
    // "least": what the codec has for samples of one byte
    unsigned int GetLosslessBits(const FramesToEncode& frames, unsigned int least)
    {
      const FrameFormat& format = frames.format;
      const bool fits = !format.isSigned && format.IsRightAligned() &&
                        frames.range.FitsInto(SampleRange::Allowed(format));

      // With up to 8 bits the codecs take samples of one byte
      const unsigned int minimum = format.bitsAllocated == 8 ? least : 9;
      return fits ? std::max(format.bitsStored, minimum) : format.bitsAllocated;
    }

    void CheckLossySource(const FramesToEncode& frames)
    {
      constexpr unsigned int MINIMUM_BITS = 4;

      if (frames.format.bitsStored < MINIMUM_BITS)
      {
        throw NotCovered("Lossy compression would leave little of so few bits");
      }

      if (frames.photometricInterpretation == "PALETTE COLOR")
      {
        throw NotCovered("Indices into a palette can't be compressed with loss");
      }

      if (!frames.format.IsRightAligned() ||
          !frames.range.FitsInto(SampleRange::Allowed(frames.format)))
      {
        throw NotCovered("The image has bits above its High Bit, which lossy compression would lose");
      }
    }


    // ---- JPEG ---------------------------------------------------------------

    class JpegLosslessEncoder : public FrameEncoder
    {
    public:
      explicit JpegLosslessEncoder(const FramesToEncode& frames) :
        frames_(frames), bits_(GetLosslessBits(frames, 8))
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
        return Run(codec, frame);
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
        frames_(frames), quality_(quality), bits_(frames.format.bitsAllocated == 8 ? 8 : 12)
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
        return Run(codec, frame);
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


    // ---- JPEG-LS ------------------------------------------------------------

    class JpegLsEncoder : public FrameEncoder
    {
    public:
      // "error": no sample differs by more
      JpegLsEncoder(const FramesToEncode& frames, int error) :
        frames_(frames), error_(error), bits_(GetLosslessBits(frames, 2))
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
        return Run(codec, frame);
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
        const SampleRange reached = {frames_.range.minimum - error_, frames_.range.maximum + error_};

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


    // ---- JPEG 2000 ----------------------------------------------------------

    class Jpeg2000Encoder : public FrameEncoder
    {
    public:
      // "quality": 1 to 100, zero for lossless
      Jpeg2000Encoder(const FramesToEncode& frames, unsigned int quality) :
        frames_(frames), quality_(quality)
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


    // ---- RLE ----------------------------------------------------------------

    class RleEncoder : public FrameEncoder
    {
    public:
      explicit RleEncoder(const FramesToEncode& frames) : frames_(frames)
      {
        CheckDimensions(frames.format);
      }

      // By plane: GDCM ends the process at pixels of an odd size, so these get another row, which
      // is cut off again. Rows are encoded each for itself (DICOM PS3.5 section G.3.1).
      std::string Encode(std::string_view frame) const override
      {
        FrameFormat plane = frames_.format;
        plane.samples = 1;
        const std::size_t size = plane.rows * plane.columns;
        const bool isOdd = plane.GetFrameSize() % 2 != 0;
        plane.rows += isOdd ? 1 : 0;

        std::vector<std::string> encoded;
        RleSegments segments;

        for (unsigned int sample = 0; sample < frames_.format.samples; sample++)
        {
          std::string samples = ExtractPlane(frame, frames_.format, sample);
          samples.resize(plane.GetFrameSize(), '\0');

          gdcm::RLECodec codec;
          SetUp(codec, plane, plane.bitsAllocated, false,
                gdcm::PhotometricInterpretation::MONOCHROME2);
          encoded.push_back(Run(codec, samples));
        }

        for (const std::string& part : encoded)
        {
          for (const std::string_view segment :
               SplitRleFrame(part, plane.GetSampleSize(), plane.rows * plane.columns))
          {
            segments.push_back(CutRleSegment(segment, size));
          }
        }

        return JoinRleSegments(segments);
      }

      std::string GetPhotometricInterpretation() const override
      {
        return frames_.photometricInterpretation;
      }

      // DICOM PS3.5 section G.2
      unsigned int GetPlanarConfiguration() const override
      {
        return 1;
      }

    private:
      const FramesToEncode frames_;
    };
  }


  std::unique_ptr<FrameEncoder> MakeFrameEncoder(const FramesToEncode& frames,
                                                 const TranscodingTarget& target)
  {
    const std::string& syntax = target.transferSyntax;

    if (syntax == RLE_LOSSLESS)
    {
      return std::make_unique<RleEncoder>(frames);
    }

    if (frames.format.bitsAllocated > 16)
    {
      throw NotCovered("GDCM compresses more than 16 Bits Allocated to RLE only");
    }

    if (syntax == JPEG_BASELINE || syntax == JPEG_EXTENDED)
    {
      return std::make_unique<JpegLossyEncoder>(frames, target.lossyQuality,
                                                syntax == JPEG_BASELINE);
    }

    if (syntax == JPEG_LOSSLESS || syntax == JPEG_LOSSLESS_SV1)
    {
      return std::make_unique<JpegLosslessEncoder>(frames);
    }

    if (syntax == JPEG_LS_LOSSLESS || syntax == JPEG_LS_NEAR_LOSSLESS)
    {
      const bool isLossless = syntax == JPEG_LS_LOSSLESS;
      return std::make_unique<JpegLsEncoder>(
          frames, isLossless ? 0 : GetNearLosslessError(target.lossyQuality));
    }

    if (syntax == JPEG_2000_LOSSLESS || syntax == JPEG_2000)
    {
      return std::make_unique<Jpeg2000Encoder>(
          frames, syntax == JPEG_2000_LOSSLESS ? 0 : target.lossyQuality);
    }

    throw NotCovered("GDCM does not write this transfer syntax");
  }
}
