// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameEncoder.h"

#include "Dicom/CodecError.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/LossySettings.h"
#include "Transcoding/Program/Gdcm/CodecCall.h"
#include "Transcoding/Program/Gdcm/FrameDecoder.h"

#include <algorithm>
#include <cmath>
#include <gdcmJPEG2000Codec.h>
#include <gdcmJPEGCodec.h>
#include <gdcmJPEGLSCodec.h>

namespace OrthancPerf
{
  FrameEncoder::FrameEncoder(const FrameFormat& format, const SampleRange& range,
                             const SampleRange& unpadded, std::string_view colors,
                             const TransferSyntax& target, unsigned int quality) :
    format_(format),
    range_(range),
    unpadded_(unpadded),
    colors_(colors),
    kind_(target.codestream),
    quality_(quality),
    error_(kind_ == CodestreamKind::JpegLs && target.isLossy ? GetNearLosslessError(quality) : 0),
    isLossy_(kind_ == CodestreamKind::JpegLs ? error_ > 0 : target.isLossy),
    isRgb_(format_.samples == 3 && colors_ == "RGB"),
    bits_(ChooseBits())
  {
    if (kind_ != CodestreamKind::Rle && format_.bitsAllocated > 16)
    {
      throw NotCovered("GDCM compresses more than 16 Bits Allocated to RLE only");
    }

    if (isLossy_)
    {
      CheckLossySource();
    }

    if (isLossy_ && kind_ == CodestreamKind::Jpeg)
    {
      CheckLossyJpeg(std::string_view(target.uid) == TransferSyntaxUid::JPEG_BASELINE);
    }
    else if (isLossy_ && kind_ == CodestreamKind::JpegLs)
    {
      CheckError();
    }

    CheckSize();
  }


  void FrameEncoder::CheckLossySource() const
  {
    constexpr unsigned int MINIMUM_BITS = 4;

    if (format_.bitsStored < MINIMUM_BITS)
    {
      throw NotCovered("Lossy compression would leave little of so few bits");
    }

    if (colors_ == "PALETTE COLOR")
    {
      throw NotCovered("Indices into a palette can't be compressed with loss");
    }

    if (!format_.IsRightAligned() || !range_.FitsInto(SampleRange::Allowed(format_)))
    {
      throw NotCovered("The image has bits above its High Bit, which lossy compression would lose");
    }
  }


  void FrameEncoder::CheckLossyJpeg(bool isBaseline) const
  {
    if (format_.isSigned)
    {
      throw NotCovered("JPEG has no signed samples");
    }

    if (format_.bitsStored > (isBaseline ? 8 : 12) || (isBaseline && bits_ > 8))
    {
      throw NotCovered(isBaseline ? "JPEG Baseline has 8 bits, allocated and stored"
                                  : "JPEG Extended has at most 12 bits");
    }
  }


  // An eighth of all values there are is the most that makes sense. No sample differs by more than
  // the error, and CharLS keeps them within the bits that it encodes; but it takes them for
  // unsigned: beyond its largest value, a signed one would become the smallest.
  void FrameEncoder::CheckError() const
  {
    const SampleRange reached = {range_.minimum - error_, range_.maximum + error_};

    if (8 * error_ > 1 << format_.bitsStored)
    {
      throw NotCovered("The error of lossy compression would be large for so few bits");
    }

    if ((format_.isSigned || bits_ > format_.bitsStored) &&
        !reached.FitsInto(SampleRange::Allowed(format_)))
    {
      throw NotCovered("Lossy compression would make samples exceed Bits Stored");
    }
  }


  void FrameEncoder::CheckSize() const
  {
    constexpr std::size_t LARGEST_JPEG = 65000;   // rows or columns: JPEG_MAX_DIMENSION of libjpeg
    constexpr std::size_t SMALLEST_JPEG_LS = 64;  // pixels
    constexpr std::size_t SMALLEST_JPEG_2000 = 768;  // bytes

    if (kind_ == CodestreamKind::Jpeg &&
        (format_.rows > LARGEST_JPEG || format_.columns > LARGEST_JPEG))
    {
      throw NotCovered("GDCM does not encode more than 65,000 rows or columns in this syntax");
    }

    if (kind_ == CodestreamKind::JpegLs && format_.rows * format_.columns < SMALLEST_JPEG_LS)
    {
      throw NotCovered("The buffer that GDCM has for JPEG-LS is too small for so few pixels");
    }

    // GDCM writes, unchecked, into a buffer of twice the size of the pixels
    if (kind_ == CodestreamKind::Jpeg2000 &&
        (format_.rows < 2 || format_.columns < 2 || format_.GetFrameSize() < SMALLEST_JPEG_2000))
    {
      throw NotCovered("GDCM does not write JPEG 2000 safely with so few pixels");
    }
  }


  // How many bits of each sample have to be encoded so that all come back: 8 at least, as that is
  // what libjpeg has, and what DCMTK, thus Orthanc, reads of JPEG-LS as others do
  unsigned int FrameEncoder::GetLosslessBits() const
  {
    const bool fits = !format_.isSigned && format_.IsRightAligned() &&
                      range_.FitsInto(SampleRange::Allowed(format_));

    // With up to 8 bits the codecs take samples of one byte
    const unsigned int minimum = format_.bitsAllocated == 8 ? 8U : 9U;
    return fits ? std::max(format_.bitsStored, minimum) : format_.bitsAllocated;
  }


  unsigned int FrameEncoder::ChooseBits() const
  {
    if (kind_ == CodestreamKind::JpegLs)
    {
      return GetLosslessBits();
    }

    if (kind_ == CodestreamKind::Jpeg)
    {
      // libjpeg knows 8, 12 and 16 bits, with loss the first two of them
      const unsigned int bits = isLossy_ ? std::min(format_.bitsAllocated, 12U) : GetLosslessBits();
      return bits <= 8 ? 8 : bits <= 12 ? 12 : 16;
    }

    return format_.bitsAllocated;
  }


  std::string FrameEncoder::Encode(std::string_view frame) const
  {
    // Decoded samples can have other values than Bits Stored allows, which a codec does not know of
    return isLossy_ && kind_ != CodestreamKind::JpegLs && bits_ > format_.bitsStored
               ? EncodeWithinRange(frame)
               : EncodeOnce(frame);
  }


  // Where decoded samples would exceed Bits Stored, those near the ends of the range are moved
  // inwards, by as much, and a little more each time
  std::string FrameEncoder::EncodeWithinRange(std::string_view frame) const
  {
    constexpr unsigned int ATTEMPTS = 4;
    const SampleRange allowed = SampleRange::Allowed(format_);
    const std::int64_t most = (allowed.maximum - allowed.minimum) / 8;
    SampleRange range = allowed;
    std::string samples(frame);

    for (unsigned int i = 0; i < ATTEMPTS; i++)
    {
      std::string encoded = EncodeOnce(samples);
      const std::string decoded = DecodeFrame(kind_, format_, {encoded});
      const SampleRange found = MeasureRange({decoded}, format_);

      if (found.FitsInto(allowed))
      {
        return encoded;
      }

      range.minimum += std::max<std::int64_t>(allowed.minimum - found.minimum, 0) * 3 / 2;
      range.maximum -= std::max<std::int64_t>(found.maximum - allowed.maximum, 0) * 3 / 2;

      if (range.minimum - allowed.minimum > most || allowed.maximum - range.maximum > most)
      {
        break;
      }

      ClampSamples(samples, range, format_);
    }

    throw NotCovered("Lossy compression would make samples exceed Bits Stored");
  }


  std::string FrameEncoder::EncodeOnce(std::string_view frame) const
  {
    switch (kind_)
    {
      case CodestreamKind::Rle:
        return EncodeRleFrame(frame, format_.columns, format_.samples, format_.GetSampleSize());

      case CodestreamKind::Jpeg:
      {
        gdcm::JPEGCodec codec;
        codec.SetLossless(!isLossy_);
        codec.SetQuality(isLossy_ ? quality_ : 100);
        SetUp(codec, format_, bits_, false, isRgb_);
        return OrthancPerf::Encode(codec, frame);
      }

      case CodestreamKind::JpegLs:
      {
        gdcm::JPEGLSCodec codec;
        codec.SetLossless(!isLossy_);
        codec.SetLossyError(error_);
        SetUp(codec, format_, bits_, false, isRgb_);
        return OrthancPerf::Encode(codec, frame);
      }

      case CodestreamKind::Jpeg2000:
        return EncodeJpeg2000(frame);

      default:
        throw NotCovered("GDCM does not write this transfer syntax");
    }
  }


  std::string FrameEncoder::EncodeJpeg2000(std::string_view frame) const
  {
    gdcm::JPEG2000Codec codec;
    SetUp(codec, format_, bits_, format_.isSigned, isRgb_);
    codec.SetMCT(isRgb_ ? 1 : 0);
    codec.SetReversible(!isLossy_);

    if (isLossy_)
    {
      codec.SetQuality(0, GetJpeg2000Fidelity(quality_) + GetUnusedRange());
    }

    try
    {
      return OrthancPerf::Encode(codec, frame);
    }
    catch (const CodecError&)
    {
      // Where pixels have more than 4 bytes, GDCM's buffer is too small for what is hard to
      // compress
      throw NotCovered("GDCM could not write a frame in JPEG 2000");
    }
  }


  // In decibels. GDCM encodes all allocated bits, and the peak of its signal to noise ratio is
  // their largest value: CT of 12 bits in 16 would be treated as if all of it was noise. So would
  // CT that is padded with values far below.
  double FrameEncoder::GetUnusedRange() const
  {
    const auto used = static_cast<double>(unpadded_.maximum - unpadded_.minimum);
    const double all = std::pow(2.0, format_.bitsAllocated) - 1.0;
    return 20.0 * std::log10(all / std::max(used, 1.0));
  }


  std::string FrameEncoder::GetPhotometricInterpretation() const
  {
    // libjpeg makes YCbCr of RGB, and of its chrominance a quarter
    if (kind_ == CodestreamKind::Jpeg && isLossy_ && format_.samples == 3)
    {
      return "YBR_FULL_422";
    }

    if (kind_ == CodestreamKind::Jpeg2000 && isRgb_)
    {
      return isLossy_ ? "YBR_ICT" : "YBR_RCT";
    }

    return colors_;
  }
}
