// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameDecoder.h"

#include "Dicom/CodecError.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/Program/Gdcm/CodecBuffer.h"
#include "Transcoding/Program/Gdcm/LibjpegWarnings.h"
#include "Transcoding/Program/Gdcm/SampleLayout.h"

#include <array>
#include <gdcmJPEG2000Codec.h>
#include <gdcmJPEGCodec.h>
#include <gdcmJPEGLSCodec.h>
#include <gdcmRLECodec.h>

namespace OrthancPerf
{
  namespace
  {
    std::string Join(const FrameFragments& fragments)
    {
      std::string frame;

      for (const std::string_view fragment : fragments)
      {
        frame.append(fragment);
      }

      return frame;
    }

    // What gdcm::JPEGCodec picks its library by: libjpeg is there three times
    unsigned int GetJpegDepth(unsigned int precision)
    {
      return precision <= 8 ? 8 : precision <= 12 ? 12 : 16;
    }

    gdcm::PixelFormat MakePixelFormat(const FrameFormat& format, unsigned int bits, bool isSigned)
    {
      return gdcm::PixelFormat(static_cast<unsigned short>(format.samples),
                               static_cast<unsigned short>(bits), static_cast<unsigned short>(bits),
                               static_cast<unsigned short>(bits - 1), isSigned ? 1 : 0);
    }

    gdcm::PhotometricInterpretation::PIType GetColors(const FrameFormat& format)
    {
      // With YBR_FULL no codec of GDCM converts anything
      return format.samples == 1 ? gdcm::PhotometricInterpretation::MONOCHROME2
                                 : gdcm::PhotometricInterpretation::YBR_FULL;
    }

    std::string Run(gdcm::ImageCodec& codec, const FrameFormat& format,
                    const gdcm::PixelFormat& pixelFormat, const std::string& frame)
    {
      const std::size_t size = format.rows * format.columns * format.samples *
                               ((pixelFormat.GetBitsAllocated() + 7) / 8);
      const std::array<unsigned int, 3> dimensions = {static_cast<unsigned int>(format.columns),
                                                      static_cast<unsigned int>(format.rows), 1};
      codec.SetNumberOfDimensions(2);
      codec.SetDimensions(dimensions.data());
      codec.SetPlanarConfiguration(0);
      codec.SetPhotometricInterpretation(GetColors(format));
      codec.SetNeedOverlayCleanup(false);
      codec.SetPixelFormat(pixelFormat);

      gdcm::DataElement decoded;

      if (!codec.Decode(MakeFragment(frame), decoded))
      {
        throw CodecError("GDCM could not decode a frame");
      }

      return GetBytes(decoded, size);
    }
  }


  FrameDecoder::FrameDecoder(std::string_view transferSyntax, const FrameFormat& format,
                             std::string_view photometricInterpretation) :
    kind_(GetCodestreamKind(transferSyntax)),
    format_(format),
    photometricInterpretation_(photometricInterpretation)
  {
    if (kind_ == CodestreamKind::None)
    {
      throw NotCovered("GDCM does not decode this transfer syntax");
    }

    if (kind_ != CodestreamKind::Rle && format_.bitsAllocated > 16)
    {
      throw NotCovered("GDCM decodes more than 16 Bits Allocated from RLE only");
    }
  }


  std::string FrameDecoder::Decode(const FrameFragments& fragments)
  {
    const std::string frame = Join(fragments);

    if (kind_ == CodestreamKind::Rle)
    {
      return DecodeRle(frame);
    }

    header_ = ReadCodestreamHeader(kind_, frame);
    CheckHeader(header_);
    return Adapt(DecodeStream(frame, header_), header_);
  }


  void FrameDecoder::CheckHeader(const CodestreamHeader& header) const
  {
    if (header.width != format_.columns || header.height != format_.rows ||
        header.components != format_.samples)
    {
      throw CodecError("Rows, Columns or Samples per Pixel of a frame differ from the data set's");
    }

    if (header.precision < 2 || header.precision > format_.bitsAllocated)
    {
      throw CodecError("A frame has more bits than Bits Allocated, or none");
    }

    if (header.isSigned && !format_.isSigned)
    {
      throw NotCovered("A frame is signed, and its data set is not");
    }
  }


  std::string FrameDecoder::DecodeStream(const std::string& frame,
                                         const CodestreamHeader& header) const
  {
    if (kind_ == CodestreamKind::Jpeg)
    {
      const LibjpegWarnings warnings;
      gdcm::JPEGCodec codec;
      std::string samples = Run(
          codec, format_, MakePixelFormat(format_, GetJpegDepth(header.precision), false), frame);

      if (warnings.IsDamaged())
      {
        throw CodecError("A JPEG frame is damaged");
      }

      return samples;
    }

    const unsigned int bits = header.precision <= 8 ? 8 : 16;

    if (kind_ == CodestreamKind::JpegLs)
    {
      gdcm::JPEGLSCodec codec;
      return Run(codec, format_, MakePixelFormat(format_, bits, false), frame);
    }

    gdcm::JPEG2000Codec codec;
    codec.SetNumberOfThreadsForDecompression(0);
    return Run(codec, format_, MakePixelFormat(format_, bits, header.isSigned), frame);
  }


  std::string FrameDecoder::DecodeRle(const std::string& frame) const
  {
    const std::size_t plane = format_.rows * format_.columns;
    const std::size_t perSample = format_.GetSampleSize();
    const RleSegments segments = SplitRleFrame(frame, format_.samples * perSample, plane);

    const auto stride = static_cast<std::ptrdiff_t>(perSample);
    FrameFormat format = format_;
    format.samples = 1;
    std::string planes;

    // GDCM takes the colours of 16 bits apart wrongly: it gets one at a time
    for (auto begin = segments.begin(); begin != segments.end(); begin += stride)
    {
      gdcm::RLECodec codec;
      codec.SetBufferLength(plane * perSample);
      planes += Run(codec, format, MakePixelFormat(format, format.bitsAllocated, false),
                    JoinRleSegments({begin, begin + stride}));
    }

    return format_.samples == 1 ? planes : InterleavePlanes(planes, format_);
  }


  // GDCM gives a byte for up to 8 bits, two for more
  std::string FrameDecoder::Adapt(std::string samples, const CodestreamHeader& header) const
  {
    if (samples.size() < format_.GetFrameSize())
    {
      samples = WidenSamples(samples, format_);
    }

    if (format_.isSigned && format_.IsRightAligned() && header.precision <= format_.bitsStored)
    {
      ExtendSigns(samples, format_, header.precision);
    }

    return samples;
  }


  std::string FrameDecoder::GetPhotometricInterpretation() const
  {
    const std::string& pi = photometricInterpretation_;

    if (format_.samples != 3 || kind_ == CodestreamKind::Rle)
    {
      return pi;
    }

    if (kind_ == CodestreamKind::Jpeg && !header_.isLossless)
    {
      switch (header_.colors)
      {
        case CodestreamHeader::Colors::Rgb:
          return "RGB";

        case CodestreamHeader::Colors::Ycc:
          return "YBR_FULL";

        default:
          break;
      }
    }

    if (pi == "YBR_RCT" || pi == "YBR_ICT")
    {
      return "RGB";
    }

    return pi == "YBR_FULL_422" ? "YBR_FULL" : pi;
  }
}
