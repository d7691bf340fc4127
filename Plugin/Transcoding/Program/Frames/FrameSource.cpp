// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Frames/FrameSource.h"

#include "Dicom/CodecError.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/RleFrame.h"

namespace OrthancPerf
{
  namespace
  {
    FrameFormat GetFormat(const ImageDescription& image)
    {
      if (image.bitsAllocated % 8 != 0 || image.bitsAllocated > 32)
      {
        throw NotCovered("Only 8, 16, 24 or 32 Bits Allocated are transcoded");
      }

      if (!image.HasLegalBits())
      {
        throw CodecError("Bits Allocated, Bits Stored and High Bit contradict each other");
      }

      if (image.samplesPerPixel != 1 && image.samplesPerPixel != 3)
      {
        throw NotCovered("Only 1 or 3 Samples per Pixel are transcoded");
      }

      return {image.columns,    image.rows,    image.samplesPerPixel,         image.bitsAllocated,
              image.bitsStored, image.highBit, image.pixelRepresentation != 0};
    }

    // Of native frames: DICOM PS3.3 section C.7.6.3.1.2
    bool HasSharedChrominance(const ImageDescription& image)
    {
      return ParsePhotometric(image.photometricInterpretation) == Photometric::YbrFull422;
    }

    bool IsByPlane(const ImageDescription& image)
    {
      return image.samplesPerPixel > 1 && image.planarConfiguration == 1;
    }
  }


  std::string DecodeFrame(const IFrameCodec& codec, CodestreamKind kind, const FrameFormat& format,
                          std::string_view frame)
  {
    if (kind == CodestreamKind::Rle)
    {
      return DecodeRleFrame(frame, format.rows * format.columns, format.samples,
                            format.GetSampleSize());
    }

    const CodestreamHeader header = ReadCodestreamHeader(kind, frame);

    if (header.isSigned && !format.isSigned)
    {
      throw NotCovered("A frame is signed, and its data set is not");
    }

    if (header.precision < 2)
    {
      throw NotCovered("A frame has samples of one bit");
    }

    std::string samples = codec.Decode(kind, format, header, frame);

    if (samples.size() < format.GetFrameSize())
    {
      samples = WidenSamples(samples, format);
    }

    if (format.isSigned && format.IsRightAligned() && header.precision <= format.bitsStored)
    {
      ExtendSigns(samples, format, header.precision);
    }

    return samples;
  }


  FrameSource::FrameSource(const IFrameCodec& codec, const ImageDescription& image,
                           std::size_t fileSize) :
    codec_(codec),
    image_(image),
    syntax_(*FindTransferSyntax(image.transferSyntax.data())),
    format_(OrthancPerf::GetFormat(image)),
    colors_(ToTerm(GetDecoded(ParsePhotometric(image.photometricInterpretation))))
  {
    // Some megabytes may well come from a few bytes, gigabytes may not. Blank images compress well,
    // but hardly a thousand times.
    constexpr std::size_t ALWAYS = std::size_t(64) << 20;
    constexpr std::size_t RATIO = 1024;

    CheckColors();

    if (format_.GetFrameSize() > (ALWAYS + RATIO * fileSize) / image.frames)
    {
      throw CodecError("The image is too large for a file of this size");
    }

    if (image.kind == PixelDataKind::Encapsulated)
    {
      fragments_ = FindFrames(image.encapsulatedPixels, image.transferSyntax.data(), image.frames);
    }
    else if (HasSharedChrominance(image) && (format_.columns % 2 != 0 || IsByPlane(image)))
    {
      throw NotCovered("Subsampled colours with an odd number of columns, or by plane");
    }
  }


  // Whether it is known what the samples are
  void FrameSource::CheckColors() const
  {
    const Photometric colors = ParsePhotometric(colors_);
    const bool isKnown =
        HasOneSample(colors) || colors == Photometric::Rgb || colors == Photometric::YbrFull;

    if (!isKnown || HasOneSample(colors) != (format_.samples == 1))
    {
      throw NotCovered("Images of this Photometric Interpretation are not transcoded");
    }
  }


  std::string_view FrameSource::Get(std::size_t index)
  {
    return image_.kind == PixelDataKind::Encapsulated ? GetEncapsulated(index) : GetNative(index);
  }


  std::string_view FrameSource::GetNative(std::size_t index)
  {
    std::string& changed = decoded_.front();
    const std::size_t size = *image_.GetNativeSize() / image_.frames;
    const std::string_view frame = image_.pixelData.substr(index * size, size);

    if (HasSharedChrominance(image_))
    {
      changed = ExpandChrominance(frame, format_);
      return changed;
    }

    if (IsByPlane(image_))
    {
      changed = InterleavePlanes(frame, format_);
      return changed;
    }

    return frame;
  }


  std::string_view FrameSource::GetEncapsulated(std::size_t index)
  {
    std::string& samples = decoded_[isMeasured_ ? index : 0];

    if (!isMeasured_ || samples.empty())
    {
      std::string storage;
      const std::string_view frame = Join(fragments_[index], storage);
      samples = DecodeFrame(codec_, syntax_.codestream, format_, frame);

      // As DCMTK judges: by the transfer syntax. That of JPEG 2000 allows for both.
      hasLoss_ |= syntax_.codestream == CodestreamKind::Jpeg2000
                      ? !ReadCodestreamHeader(syntax_.codestream, frame).isLossless
                      : syntax_.isLossy;
    }

    return samples;
  }


  void FrameSource::MeasureRange(SampleRange& range, SampleRange& unpadded)
  {
    SampleRange all;
    SampleRange image;
    isMeasured_ = true;
    decoded_.resize(GetCount());

    for (std::size_t i = 0; i < GetCount(); i++)
    {
      const std::string_view frame = Get(i);
      all.Widen(frame, format_);

      if (image_.padding.has_value())
      {
        image.WidenBeyond({image_.padding->first, image_.padding->second}, frame, format_);
      }
    }

    range = all;
    unpadded = image.IsEmpty() ? all : image;
  }
}
