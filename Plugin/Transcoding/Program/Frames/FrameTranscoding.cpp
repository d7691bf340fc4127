// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Frames/FrameTranscoding.h"

#include "Dicom/CodecError.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ElementWriter.h"
#include "Dicom/EncapsulatedPixels.h"
#include "Dicom/ImageDescription.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/LossySettings.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"
#include "Transcoding/Program/Frames/FrameSource.h"
#include "Transcoding/Program/RunWorker.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    void CheckLossyJpeg(const EncodingTask& task)
    {
      const bool isBaseline = std::string_view(task.target.uid) == TransferSyntaxUid::JPEG_BASELINE;

      if (task.format.isSigned)
      {
        throw NotCovered("JPEG has no signed samples");
      }

      if (isBaseline ? task.format.bitsAllocated > 8 : task.format.bitsStored > 12)
      {
        throw NotCovered(isBaseline ? "JPEG Baseline has 8 bits, allocated and stored"
                                    : "JPEG Extended has at most 12 bits");
      }
    }


    void CheckLossy(const EncodingTask& task)
    {
      constexpr unsigned int MINIMUM_BITS = 4;

      if (task.format.bitsStored < MINIMUM_BITS)
      {
        throw NotCovered("Lossy compression would leave little of so few bits");
      }

      if (task.colors == "PALETTE COLOR")
      {
        throw NotCovered("Indices into a palette can't be compressed with loss");
      }

      if (!task.HasStoredBitsOnly())
      {
        throw NotCovered(
            "The image has bits above its High Bit, which lossy compression would lose");
      }

      if (task.target.codestream == CodestreamKind::Jpeg)
      {
        CheckLossyJpeg(task);
      }
    }


    // What the target can hold, whatever the library
    void CheckTask(const EncodingTask& task)
    {
      constexpr std::size_t LARGEST_JPEG = 65000;  // rows or columns: JPEG_MAX_DIMENSION of libjpeg
      const CodestreamKind kind = task.target.codestream;

      if (kind != CodestreamKind::Rle && task.format.bitsAllocated > 16)
      {
        throw NotCovered("More than 16 Bits Allocated are compressed to RLE only");
      }

      if (task.isLossy)
      {
        CheckLossy(task);
      }

      if (kind == CodestreamKind::Jpeg &&
          (task.format.rows > LARGEST_JPEG || task.format.columns > LARGEST_JPEG))
      {
        throw NotCovered("JPEG has no more than 65,000 rows or columns here");
      }
    }


    EncodingTask MakeTask(const IFrameCodec& codec, FrameSource& source,
                          const TransferSyntax& target, unsigned int quality)
    {
      const bool isLossy = target.isLossy && (target.codestream != CodestreamKind::JpegLs ||
                                              GetNearLosslessError(quality) > 0);
      const SampleRange all = SampleRange::Allocated(source.GetFormat());
      EncodingTask task = {target, quality, isLossy, source.GetFormat(), source.GetColors(),
                           all,    all};

      if (isLossy || (target.codestream != CodestreamKind::Rle && codec.DependsOnRange(target)))
      {
        source.MeasureRange(task.range, task.unpadded);
      }

      CheckTask(task);

      if (target.codestream != CodestreamKind::Rle)
      {
        codec.Check(task);
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
        found.Widen(DecodeFrame(codec, task.target.codestream, task.format, encoded), task.format);

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
      const EncodingTask task = MakeTask(codec, source, target, quality);
      EncapsulatedPixels pixels(source.GetCount());

      for (std::size_t i = 0; i < source.GetCount(); i++)
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
      pixels.reserve(source.GetFormat().GetFrameSize() * source.GetCount());

      for (std::size_t i = 0; i < source.GetCount(); i++)
      {
        pixels.append(source.Get(i));
      }

      editor.Set(TAG_PIXEL_DATA, source.GetFormat().bitsAllocated > 8 ? "OW" : "OB", pixels);
    }


    // The content of the one item of a sequence, an element in Explicit VR; empty if it is not like
    // that. Where lengths are undefined, there are delimiters (DICOM PS3.5 section 7.5).
    std::string_view GetOnlyItem(std::string_view sequence)
    {
      constexpr std::size_t SEQUENCE_HEADER = 12;
      constexpr std::size_t ITEM_HEADER = 8;
      constexpr std::size_t DELIMITER = 8;
      constexpr std::string_view UNDEFINED("\xff\xff\xff\xff");
      const bool hasDelimiter = sequence.substr(8, 4) == UNDEFINED;
      const std::size_t around = SEQUENCE_HEADER + (hasDelimiter ? DELIMITER : 0);

      if (sequence.substr(4, 2) != "SQ" || sequence.size() < around + ITEM_HEADER)
      {
        return {};
      }

      const std::string_view item = sequence.substr(SEQUENCE_HEADER, sequence.size() - around);
      const std::string_view content = item.substr(ITEM_HEADER);
      std::string length;
      AppendInteger(length, content.size(), 4);

      if (item.substr(4, 4) == UNDEFINED && content.size() >= DELIMITER)
      {
        return content.substr(0, content.size() - DELIMITER);
      }

      return item.substr(4, 4) == length ? content : std::string_view();
    }


    // Of elements in the transfer syntax
    std::string MakeFile(std::string_view elements, const TransferSyntax& syntax)
    {
      std::string meta;
      std::string length;
      AppendElement(meta, TAG_TRANSFER_SYNTAX_UID, "UI", syntax.uid);
      AppendInteger(length, meta.size(), 4);

      std::string file(128, '\0');
      file.append("DICM");
      AppendElement(file, TAG_FILE_META_LENGTH, "UL", length);
      return file.append(meta).append(elements);
    }
  }


  FrameTranscoding::FrameTranscoding(const char* name, std::unique_ptr<const IFrameCodec> codec) :
    name_(name),
    codec_(std::move(codec))
  {
  }


  bool FrameTranscoding::CanWrite(const std::string& transferSyntax) const noexcept
  {
    const TransferSyntax* const syntax = FindTransferSyntax(transferSyntax);
    return syntax != nullptr && syntax->isWritable &&
           (!syntax->isEncapsulated || syntax->codestream == CodestreamKind::Rle ||
            codec_->CanEncode(*syntax));
  }


  EngineResult FrameTranscoding::Transcode(const void* data, std::size_t size,
                                           const TranscodingTarget& target) const noexcept
  {
    return MakeResult(
        [&]
        {
          if (!CanWrite(target.transferSyntax))
          {
            throw NotCovered(std::string(codec_->GetLibrary()) +
                             " does not write this transfer syntax");
          }

          return Run({static_cast<const char*>(data), size},
                     *FindTransferSyntax(target.transferSyntax),
                     std::clamp(target.lossyQuality, 1u, 100u));
        });
  }


  std::string FrameTranscoding::Run(std::string_view file, const TransferSyntax& target,
                                    unsigned int quality) const
  {
    const TransferSyntax& plain = *FindTransferSyntax(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
    const ImageDescription image = DescribeImage(file.data(), file.size());
    const TransferSyntax* const source = FindTransferSyntax(image.transferSyntax.data());

    if (source == &target)
    {
      return std::string(file);
    }

    CheckReadable(source);

    if (image.isDeflated)
    {
      return Run(ConvertFile(file, plain.uid), target, quality);
    }

    if (image.bitsAllocated > 16 && source->coding == DataSetCoding::ExplicitBigEndian)
    {
      throw NotCovered("The order of words in big endian pixels of more than 16 bits is uncertain");
    }

    const std::string obstacle = FindObstacle(image, target.uid);

    if (!obstacle.empty())
    {
      throw NotCovered(obstacle);
    }

    if (!source->isEncapsulated && !target.isEncapsulated)
    {
      return ConvertFile(file, target.uid);
    }

    if (image.hasNestedFragments)
    {
      return Run(DecodeIcon(file, *source), target, quality);
    }

    if (source->coding != plain.coding)
    {
      return TranscodePixels(ConvertFile(file, plain.uid), target, quality);
    }

    return target.coding == plain.coding
               ? TranscodePixels(file, target, quality)
               : ConvertFile(TranscodePixels(file, plain, quality), target.uid);
  }


  void FrameTranscoding::CheckReadable(const TransferSyntax* source) const
  {
    const bool isDecoded = source != nullptr && (source->codestream == CodestreamKind::None ||
                                                 source->codestream == CodestreamKind::Rle ||
                                                 codec_->CanDecode(source->codestream));

    if (!IsReadable(source) || !isDecoded)
    {
      throw NotCovered(std::string(codec_->GetLibrary()) + " does not read this transfer syntax");
    }
  }


  // The compressed pixels of an Icon Image Sequence (DICOM PS3.3 section C.7.6.1.1.6) are in the
  // transfer syntax of the whole
  std::string FrameTranscoding::DecodeIcon(std::string_view file,
                                           const TransferSyntax& source) const
  {
    constexpr DicomTag TAG_ICON_IMAGE_SEQUENCE = 0x00880200;
    DataSetEditor editor(file.data(), file.size());
    const DataSetEditor::Element* const sequence = editor.Find(TAG_ICON_IMAGE_SEQUENCE);
    const std::string icon =
        MakeFile(sequence == nullptr ? std::string_view() : GetOnlyItem(sequence->bytes), source);

    if (DescribeImage(icon.data(), icon.size()).kind != PixelDataKind::Encapsulated)
    {
      throw NotCovered("A sequence other than an icon's has compressed pixels of its own");
    }

    const std::string decoded =
        Run(icon, *FindTransferSyntax(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN), 1);
    const DataSetEditor elements(decoded.data(), decoded.size());
    std::string content;
    std::string item;

    for (const DataSetEditor::Element& element : elements.GetElements())
    {
      content.append(element.bytes);
    }

    AppendItem(item, content);
    editor.Set(TAG_ICON_IMAGE_SEQUENCE, "SQ", item);
    return editor.Write();
  }


  // Both in Explicit VR Little Endian, but for File Meta Information and Pixel Data
  std::string FrameTranscoding::TranscodePixels(std::string_view file, const TransferSyntax& target,
                                                unsigned int quality) const
  {
    DataSetEditor editor(file.data(), file.size());
    const ImageDescription image = DescribeImage(file.data(), file.size());

    if (image.kind == PixelDataKind::Encapsulated || image.kind == PixelDataKind::Native)
    {
      FrameSource source(*codec_, image, file.size());
      std::string_view colors = source.GetColors();

      if (target.isEncapsulated)
      {
        colors = Encode(*codec_, source, editor, target, quality);
      }
      else
      {
        Decode(source, editor);
      }

      if (source.HasLoss())
      {
        editor.Set(TAG_LOSSY_IMAGE_COMPRESSION, "CS", "01");
      }

      if (colors != image.photometricInterpretation)
      {
        editor.Set(TAG_PHOTOMETRIC_INTERPRETATION, "CS", colors);
      }

      // RLE has planes, whatever Planar Configuration says (DICOM PS3.5 section G.2): Orthanc up to
      // 1.11.2 decodes 1 to false colours
      if (image.samplesPerPixel > 1)
      {
        editor.Set(TAG_PLANAR_CONFIGURATION, "US", std::string(2, '\0'));
      }

      editor.Remove(TAG_EXTENDED_OFFSET_TABLE);
      editor.Remove(TAG_EXTENDED_OFFSET_TABLE_LENGTHS);
    }

    editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", target.uid);
    return editor.Write();
  }
}
