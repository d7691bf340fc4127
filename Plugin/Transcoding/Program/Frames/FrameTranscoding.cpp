// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Frames/FrameTranscoding.h"

#include "Dicom/DataSetEditor.h"
#include "Dicom/ElementWriter.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/ReceivedFile.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    struct DecodedFrame
    {
      std::string samples;
      bool isLossless;  // the process that its codestream names
    };

    // Decodes a compressed frame to samples of the format, by pixel. No colour is converted. The
    // frame has to be what its data set says (PixelDataFlaw.h). Throws CodecError or NotCovered.
    DecodedFrame DecodeFrame(const IFrameCodec& codec, CodestreamKind kind,
                             const FrameFormat& format, std::string_view frame)
    {
      if (kind == CodestreamKind::Rle)
      {
        return {DecodeRleFrame(frame, format.rows * format.columns, format.samples,
                               format.GetSampleSize()),
                true};
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

      return {std::move(samples), header.isLossless};
    }

    // The frames of an image as samples by pixel. One decoded frame is held at a time, all of them
    // where their range is measured, as each is decoded once. Native frames by pixel are not
    // copied. Lives on the stack of one thread. Codec, description and file outlive it.
    class FrameSource
    {
    public:
      // Of an image that Obstacles.h has nothing against. Throws CodecError.
      FrameSource(const IFrameCodec& codec, const ImageDescription& image) :
        format{image.columns,    image.rows,    image.samplesPerPixel,         image.bitsAllocated,
               image.bitsStored, image.highBit, image.pixelRepresentation != 0},
        colors(ToTerm(GetDecoded(ParsePhotometric(image.photometricInterpretation)))),
        frames(image.frames),
        codec_(codec),
        image_(image),
        syntax_(*FindTransferSyntax(image.transferSyntax))
      {
        if (image.kind == PixelDataKind::Encapsulated)
        {
          fragments_ = FindFrames(image.encapsulatedPixels, image.transferSyntax, image.frames);
        }
      }

      // Valid until the next call. Throws CodecError or NotCovered.
      std::string_view Get(std::size_t index)
      {
        const std::string_view frame =
            image_.kind == PixelDataKind::Encapsulated ? GetEncapsulated(index) : GetNative(index);

        if (frame.size() != format.GetFrameSize())
        {
          throw CodecError("A frame has another size than its image says");
        }

        return frame;
      }

      // Of all samples, and of those that are no padding; decodes all frames
      void MeasureRange(SampleRange& range, SampleRange& unpadded)
      {
        isMeasured_ = true;
        decoded_.resize(frames);

        for (std::size_t i = 0; i < frames; i++)
        {
          const std::string_view frame = Get(i);
          range.Widen(frame, format, {});

          if (image_.padding.has_value())
          {
            unpadded.Widen(frame, format, {image_.padding->first, image_.padding->second});
          }
        }

        unpadded = unpadded.IsEmpty() ? range : unpadded;
      }

      const FrameFormat format;
      const std::string_view colors;  // Photometric Interpretation of the decoded frames
      const std::size_t frames;

      // Whether one of the frames so far was compressed with loss. DICOM PS3.3 section
      // C.7.6.1.1.5: the transfer syntax may have been the only thing that said so.
      bool hasLoss = false;

    private:
      std::string_view GetNative(std::size_t index)
      {
        const std::size_t size = *image_.GetNativeSize() / image_.frames;
        const std::string_view frame = image_.pixelData.substr(index * size, size);

        if (image_.samplesPerPixel == 1 || image_.planarConfiguration == 0)
        {
          return frame;
        }

        decoded_.front() = InterleavePlanes(frame, format);
        return decoded_.front();
      }

      std::string_view GetEncapsulated(std::size_t index)
      {
        std::string& samples = decoded_[isMeasured_ ? index : 0];

        if (!isMeasured_ || samples.empty())
        {
          std::string storage;
          const std::string_view frame = Join(fragments_[index], storage);
          DecodedFrame decoded = DecodeFrame(codec_, syntax_.codestream, format, frame);
          samples = std::move(decoded.samples);

          // As DCMTK judges: by the transfer syntax. That of JPEG 2000 allows for both, and that of
          // JPEG may be wrong.
          hasLoss |= !decoded.isLossless ||
                     (syntax_.isLossy && syntax_.codestream != CodestreamKind::Jpeg2000);
        }

        return samples;
      }

      const IFrameCodec& codec_;
      const ImageDescription& image_;
      const TransferSyntax& syntax_;
      std::vector<FrameFragments> fragments_;  // of each encapsulated frame
      bool isMeasured_ = false;
      std::vector<std::string> decoded_{1};  // by frame if they were measured, else the latest one
    };

    EncodingTask MakeTask(FrameSource& source, const TransferSyntax& target, unsigned int quality)
    {
      const bool isLossy = target.isLossy && (target.codestream != CodestreamKind::JpegLs ||
                                              GetNearLosslessError(quality) > 0);
      EncodingTask task = {target, quality, isLossy, source.format, source.colors, {}, {}};

      if (isLossy)
      {
        source.MeasureRange(task.range, task.unpadded);

        if (!task.HasStoredBitsOnly())
        {
          throw NotCovered(
              "The image has bits above its High Bit, which lossy compression would lose");
        }
      }

      return task;
    }

    // Whether decoded samples can have other values than Bits Stored allows, which a codec does not
    // know of: JPEG has 8 or 12 bits, JPEG 2000 all that are allocated
    bool MayExceedStoredBits(const EncodingTask& task)
    {
      const bool isJpeg = task.target.codestream == CodestreamKind::Jpeg;
      const unsigned int bits =
          isJpeg ? std::min(task.format.bitsAllocated, 12U) : task.format.bitsAllocated;
      return task.isLossy && task.target.codestream != CodestreamKind::JpegLs &&
             bits > task.format.bitsStored;
    }

    // Where decoded samples would exceed Bits Stored, those near the ends of the range are moved
    // inwards, by as much, and a little more each time
    std::string EncodeWithinRange(const IFrameCodec& codec, const EncodingTask& task,
                                  std::string_view frame)
    {
      constexpr unsigned int ATTEMPTS = 4;
      const SampleRange allowed = SampleRange::Allowed(task.format);
      const std::int64_t most = (allowed.maximum - allowed.minimum) / 8;
      SampleRange range = allowed;
      std::string samples(frame);

      for (unsigned int i = 0; i < ATTEMPTS; i++)
      {
        std::string encoded = codec.Encode(task, samples);
        SampleRange found;
        found.Widen(DecodeFrame(codec, task.target.codestream, task.format, encoded).samples,
                    task.format, {});

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

        ClampSamples(samples, range, task.format);
      }

      throw NotCovered("Lossy compression would make samples exceed Bits Stored");
    }

    std::string EncodeFrame(const IFrameCodec& codec, const EncodingTask& task,
                            std::string_view frame)
    {
      if (task.target.codestream == CodestreamKind::Rle)
      {
        return EncodeRleFrame(frame, task.format.columns, task.format.samples,
                              task.format.GetSampleSize());
      }

      return MayExceedStoredBits(task) ? EncodeWithinRange(codec, task, frame)
                                       : codec.Encode(task, frame);
    }

    // Photometric Interpretation of what is written
    std::string_view GetEncodedColors(const EncodingTask& task)
    {
      // libjpeg makes YCbCr of RGB, and of its chrominance a quarter
      if (task.target.codestream == CodestreamKind::Jpeg && task.isLossy &&
          task.format.samples == 3)
      {
        return "YBR_FULL_422";
      }

      if (task.target.codestream == CodestreamKind::Jpeg2000 && task.IsRgb())
      {
        return task.isLossy ? "YBR_ICT" : "YBR_RCT";
      }

      return task.colors;
    }

    std::string_view Encode(const IFrameCodec& codec, FrameSource& source, DataSetEditor& editor,
                            const TransferSyntax& target, unsigned int quality)
    {
      const EncodingTask task = MakeTask(source, target, quality);
      EncapsulatedPixels pixels(source.frames);

      for (std::size_t i = 0; i < source.frames; i++)
      {
        pixels.BeginFrame().append(EncodeFrame(codec, task, source.Get(i)));
        pixels.EndFrame();
      }

      editor.SetEncoded(TAG_PIXEL_DATA, pixels.Finish());
      return GetEncodedColors(task);
    }

    void Decode(FrameSource& source, DataSetEditor& editor)
    {
      std::string pixels;
      pixels.reserve(source.format.GetFrameSize() * source.frames);

      for (std::size_t i = 0; i < source.frames; i++)
      {
        pixels.append(source.Get(i));
      }

      editor.Set(TAG_PIXEL_DATA, source.format.bitsAllocated > 8 ? "OW" : "OB", pixels);
    }

    // Both in Explicit VR Little Endian, but for File Meta Information and Pixel Data
    std::string TranscodePixels(const IFrameCodec& codec, const ReceivedFile& file,
                                const TransferSyntax& target, unsigned int quality)
    {
      DataSetEditor editor(file);
      const ImageDescription& image = file.image;

      if (image.kind == PixelDataKind::Encapsulated || image.kind == PixelDataKind::Native)
      {
        FrameSource source(codec, image);
        std::string_view colors = source.colors;

        if (target.isEncapsulated)
        {
          colors = Encode(codec, source, editor, target, quality);
        }
        else
        {
          Decode(source, editor);
        }

        if (source.hasLoss)
        {
          editor.Set(TAG_LOSSY_IMAGE_COMPRESSION, "CS", "01");
        }

        if (colors != image.photometricInterpretation)
        {
          editor.Set(TAG_PHOTOMETRIC_INTERPRETATION, "CS", colors);
        }

        // RLE has planes, whatever Planar Configuration says (DICOM PS3.5 section G.2): Orthanc up
        // to 1.11.2 decodes 1 to false colours
        if (image.samplesPerPixel > 1)
        {
          editor.Set(TAG_PLANAR_CONFIGURATION, "US", std::string(2, '\0'));
        }
      }

      editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", target.uid);
      return editor.Write();
    }
  }

  FrameTranscoding::FrameTranscoding(const char* name, std::unique_ptr<const IFrameCodec> codec) :
    name_(name),
    codec_(std::move(codec))
  {
  }

  EngineResult FrameTranscoding::Transcode(const void* data, std::size_t size,
                                           const TranscodingTarget& target) const noexcept
  {
    return EngineResult::Of(
        [&]
        {
          const TransferSyntax* const syntax = FindWritableSyntax(target.transferSyntax);
          const bool isWritten = syntax != nullptr && (!syntax->isEncapsulated ||
                                                       syntax->codestream == CodestreamKind::Rle ||
                                                       codec_->CanEncode(*syntax));

          if (!isWritten)
          {
            throw NotCovered(std::string(codec_->GetLibrary()) +
                             " does not write this transfer syntax");
          }

          return EngineResult::MakeTranscoded(Run({static_cast<const char*>(data), size}, *syntax,
                                                  std::clamp(target.lossyQuality, 1u, 100u)));
        });
  }

  std::string FrameTranscoding::Run(std::string_view file, const TransferSyntax& target,
                                    unsigned int quality) const
  {
    const TransferSyntax& plain = *FindTransferSyntax(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
    const ReceivedFile received(file.data(), file.size());
    const ImageDescription& image = received.image;
    const TransferSyntax* const source = FindTransferSyntax(image.transferSyntax);

    if (source == &target)
    {
      return std::string(file);
    }

    const bool isReadable =
        source != nullptr &&
        (source->codestream == CodestreamKind::None
             ? source->isWritable || source->coding == DataSetCoding::ExplicitBigEndian
             : source->codestream == CodestreamKind::Rle || codec_->CanDecode(source->codestream));

    if (!isReadable)
    {
      throw NotCovered(std::string(codec_->GetLibrary()) + " does not read this transfer syntax");
    }

    if (!source->isEncapsulated && !target.isEncapsulated)
    {
      return ConvertFile(file, target.uid);
    }

    if (source->coding != plain.coding)
    {
      const std::string converted = ConvertFile(file, plain.uid);
      return TranscodePixels(*codec_, ReceivedFile(converted), target, quality);
    }

    return target.coding == plain.coding
               ? TranscodePixels(*codec_, received, target, quality)
               : ConvertFile(TranscodePixels(*codec_, received, plain, quality), target.uid);
  }
}
