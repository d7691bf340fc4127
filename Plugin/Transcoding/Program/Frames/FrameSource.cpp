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


  FrameSource::FrameSource(const IFrameCodec& codec, const ImageDescription& image) :
    codec_(codec),
    image_(image),
    syntax_(*FindTransferSyntax(image.transferSyntax)),
    format_(OrthancPerf::GetFormat(image)),
    colors_(ToTerm(GetDecoded(ParsePhotometric(image.photometricInterpretation))))
  {
    if (image.kind == PixelDataKind::Encapsulated)
    {
      fragments_ = FindFrames(image.encapsulatedPixels, image.transferSyntax, image.frames);
    }
  }


  std::string_view FrameSource::Get(std::size_t index)
  {
    const std::string_view frame =
        image_.kind == PixelDataKind::Encapsulated ? GetEncapsulated(index) : GetNative(index);

    if (frame.size() != format_.GetFrameSize())
    {
      throw CodecError("A frame has another size than its image says");
    }

    return frame;
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
