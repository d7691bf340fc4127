// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/CodecError.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ElementWriter.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/PixelElement.h"
#include "Dicom/ReceivedFile.h"
#include "Transcoding/EncapsulatedFrames.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/FakeCodestream.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // The codestreams of FakeCodestream.h, for files that may hold anything: what is not well-formed
  // is refused with a std::exception. It also reads what the encoder of this project writes.
  namespace FakeCodec
  {
    // Bytes of a frame that is not compressed
    inline std::size_t GetFrameSize(const ImageDescription& image)
    {
      const std::size_t size = image.GetNativeSize().value_or(0);

      if (size == 0 || image.bitsAllocated % 8 != 0 || image.frames == 0)
      {
        throw CodecError("pixels that make no sense");
      }

      return size / image.frames;
    }

    inline std::vector<std::string> Split(const ImageDescription& image)
    {
      const std::size_t size = GetFrameSize(image);
      std::vector<std::string> frames;

      if (image.pixelData.size() / size < image.frames)
      {
        throw CodecError("too few pixels");
      }

      for (std::size_t i = 0; i < image.frames; i++)
      {
        frames.emplace_back(image.pixelData.substr(i * size, size));
      }

      return frames;
    }

    inline std::string GetPixelRepresentation(const ImageDescription& image)
    {
      return image.bitsAllocated > 8 ? "OW" : "OB";
    }

    // Of one that FakeCodestream.h has made, or the project's encoder
    inline std::string Decode(const std::string& file, const ImageDescription& image)
    {
      const std::string_view syntax = image.transferSyntax;
      const std::size_t size = GetFrameSize(image);
      DataSetEditor editor{ReceivedFile(file)};
      std::string pixels;

      if (syntax == TransferSyntaxUid::JPEG_LOSSLESS_SV1 &&
          image.encapsulatedPixels.find("\xff\xef") == std::string_view::npos)
      {
        pixels = EncapsulatedFrames(file).Decode();
        editor.Set(TAG_PLANAR_CONFIGURATION, "US", std::string(2, '\0'));
      }
      else
      {
        pixels = ReadFakeFrames(image);
      }

      if (pixels.size() != size * image.frames)
      {
        throw CodecError("too many or too few pixels in codestreams");
      }

      editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
      editor.Set(TAG_PIXEL_DATA, GetPixelRepresentation(image), pixels);
      return editor.Write();
    }

    // The file in Explicit VR Little Endian
    inline std::string Uncompress(const std::string& file)
    {
      const ImageDescription image = DescribeImage(file.data(), file.size());

      if (image.kind == PixelDataKind::Encapsulated)
      {
        return Decode(file, image);
      }

      if (std::string_view(image.transferSyntax) != TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN ||
          image.kind != PixelDataKind::Native)
      {
        throw CodecError("no pixels that this codec knows");
      }

      return file;
    }
  }

  // What an engine does wrong: where, and how much
  struct Lie
  {
    unsigned int kind = 0;
    std::size_t place = 0;
    std::size_t amount = 0;
  };

  using Lies = std::vector<Lie>;

  // What an engine does wrong with one instance
  struct Story
  {
    bool isOn = false;
    Lies lies;  // that are still to be told: two for each file that is written, the last ones first

    // By source and target: who is asked again says the same again
    std::map<std::pair<std::string, std::string>, EngineResult> told;
  };

  // Reads and writes FakeCodec, well if it is given no story. With one that is on, it is of one
  // thread.
  class LyingEngine : public ITranscodingEngine
  {
  public:
    LyingEngine(std::string name, std::set<std::string> writable, Story* story = nullptr) :
      name_(std::move(name)),
      writable_(std::move(writable)),
      story_(story)
    {
    }

    const char* GetName() const noexcept override
    {
      return name_.c_str();
    }

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override
    {
      const std::string file(static_cast<const char*>(data), size);

      if (writable_.count(target.transferSyntax) == 0)
      {
        return EngineResult::MakeDeclined("not written");
      }

      if (story_ == nullptr || !story_->isOn)
      {
        return Make(file, target.transferSyntax, {});
      }

      const auto [told, isNew] =
          story_->told.try_emplace({file, target.transferSyntax}, EngineResult());

      if (isNew)
      {
        told->second = Make(file, target.transferSyntax, TakeLies());
      }

      return told->second;
    }

    // Without lies
    static std::string Write(const std::string& plain, const std::string& target, const Lies& lies)
    {
      const ImageDescription image = DescribeImage(plain.data(), plain.size());
      std::vector<std::string> frames = FakeCodec::Split(image);
      DataSetEditor editor{ReceivedFile(plain)};

      for (const Lie& lie : lies)
      {
        SpoilFrames(frames, lie);
      }

      if (IsEncapsulated(target))
      {
        for (std::string& frame : frames)
        {
          frame = MakeFakeFrame(image, target, frame);
        }

        for (Lie lie : lies)
        {
          const bool isOfStreams = lie.kind >= 8 && lie.kind <= 10;
          lie.kind = isOfStreams ? OF_STREAMS[lie.kind - 8] : 0;
          SpoilFrames(frames, lie);
        }
      }

      editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", target);

      if (IsEncapsulated(target))
      {
        editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement(frames));
      }
      else
      {
        editor.Set(TAG_PIXEL_DATA, FakeCodec::GetPixelRepresentation(image),
                   std::accumulate(frames.begin(), frames.end(), std::string()));
      }

      for (const Lie& lie : lies)
      {
        SpoilAttributes(editor, lie);
      }

      return editor.Write();
    }

  private:
    // What the kinds 8 to 10 do with codestreams, as SpoilFrames does it with frames
    static constexpr unsigned int OF_STREAMS[] = {1, 5, 4};

    static EngineResult Make(const std::string& file, const std::string& target, const Lies& lies)
    {
      EngineResult result;

      try
      {
        result = EngineResult::MakeTranscoded(Write(FakeCodec::Uncompress(file), target, lies));
      }
      catch (const std::exception& error)
      {
        result = EngineResult::MakeFailed(error.what());
      }

      for (const Lie& lie : lies)
      {
        SpoilResult(result, lie);
      }

      return result;
    }

    Lies TakeLies() const
    {
      Lies taken;

      while (!story_->lies.empty() && taken.size() < 2)
      {
        taken.push_back(story_->lies.back());
        story_->lies.pop_back();
      }

      return taken;
    }

    static void SpoilFrames(std::vector<std::string>& frames, const Lie& lie)
    {
      if (frames.empty())
      {
        return;
      }

      std::string& frame = frames[lie.place % frames.size()];

      switch (lie.kind)
      {
        case 1:
          std::swap(frame, frames[lie.amount % frames.size()]);
          break;
        case 2:
          frames.pop_back();
          break;
        case 3:
          frames.push_back(frame);
          break;
        case 4:
          SpoilByte(frame, lie);
          break;
        case 5:
          frame.resize(frame.size() - std::min(frame.size(), lie.amount));
          break;
        case 6:
          frame.append(lie.amount, 'x');
          break;
        case 7:  // what is not stored is lost
          for (std::size_t i = 1; i < frame.size(); i += 2)
          {
            frame[i] = static_cast<char>(frame[i] & lie.amount);
          }
          break;
        default:
          break;
      }
    }

    static void SpoilAttributes(DataSetEditor& editor, const Lie& lie)
    {
      static constexpr DicomTag NUMBERS[] = {0x00280002, 0x00280006, 0x00280010, 0x00280011,
                                             0x00280100, 0x00280101, 0x00280102, 0x00280103};
      static const std::string TEXTS[] = {
          "RGB",         "YBR_FULL",      "YBR_FULL_422", "MONOCHROME1",
          "MONOCHROME2", "PALETTE COLOR", "YBR_RCT",      ""};
      std::string number;
      AppendInteger(number, lie.amount, 2);

      switch (lie.kind)
      {
        case 11:
          editor.Set(NUMBERS[lie.place % std::size(NUMBERS)], "US", number);
          break;
        case 12:
          editor.Set(0x00280004, "CS", TEXTS[lie.amount % std::size(TEXTS)]);
          break;
        case 13:
          editor.Set(0x00280008, "IS", std::to_string(lie.amount));
          break;
        case 14:
          editor.Set(lie.place % 2 == 0 ? 0x00080018 : 0x00020010, "UI",
                     "1.2." + std::to_string(lie.amount));
          break;
        default:
          break;
      }
    }

    static void SpoilResult(EngineResult& result, const Lie& lie)
    {
      switch (lie.kind)
      {
        case 15:
          result.outcome = static_cast<TranscodingOutcome>(lie.amount % 5);
          result.reason = "frame " + std::to_string(lie.place) + std::string(lie.amount, '7');
          break;
        case 16:
          result.file.resize(result.file.size() - std::min(result.file.size(), lie.amount));
          break;
        case 17:
          SpoilByte(result.file, lie);
          break;
        default:
          break;
      }
    }

    static void SpoilByte(std::string& bytes, const Lie& lie)
    {
      if (!bytes.empty())
      {
        char& byte = bytes[bytes.size() - 1 - lie.place % bytes.size()];
        byte = static_cast<char>(byte ^ lie.amount);
      }
    }

    const std::string name_;
    const std::set<std::string> writable_;
    Story* const story_;
  };
}
