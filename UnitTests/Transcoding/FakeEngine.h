// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetEditor.h"
#include "Dicom/PixelElement.h"
#include "Dicom/ReceivedFile.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/FakeCodestream.h"

#include <atomic>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  constexpr const char* EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1";
  constexpr const char* DEFLATED = "1.2.840.10008.1.2.1.99";
  constexpr const char* JPEG_BASELINE = "1.2.840.10008.1.2.4.50";
  constexpr const char* JPEG_LOSSLESS = "1.2.840.10008.1.2.4.70";
  constexpr const char* JPEG_LS = "1.2.840.10008.1.2.4.80";
  constexpr const char* RLE = "1.2.840.10008.1.2.5";

  // Puts the pixels as they are into one fragment for each frame, and takes them out again: files
  // in the shape of any transfer syntax, made without a codec (FakeCodestream.h). What goes wrong
  // is what a test wants.
  class FakeEngine : public ITranscodingEngine
  {
  public:
    // Changes a file that was made
    using Change = std::function<void(DataSetEditor&)>;

    explicit FakeEngine(std::string name,
                        std::set<std::string> writable = {EXPLICIT_LITTLE_ENDIAN, JPEG_BASELINE,
                                                          JPEG_LOSSLESS, RLE}) :
      name_(std::move(name)),
      writable_(std::move(writable))
    {
    }

    FakeEngine& Fails(const std::string& reason)
    {
      result_ = EngineResult::MakeFailed(reason);
      return *this;
    }

    FakeEngine& Declines(const std::string& reason)
    {
      result_ = EngineResult::MakeDeclined(reason);
      return *this;
    }

    // Again
    FakeEngine& Works()
    {
      result_ = {};
      return *this;
    }

    FakeEngine& Writes(const std::string& file)
    {
      result_ = EngineResult::MakeTranscoded(file);
      return *this;
    }

    FakeEngine& Changes(Change change)
    {
      change_ = std::move(change);
      return *this;
    }

    // Encoding puts out other pixels
    FakeEngine& Spoils(std::uint8_t mask)
    {
      mask_ = mask;
      return *this;
    }

    // Does nothing until the deadline, when it is too late for all but what it is to write
    FakeEngine& Hangs()
    {
      isHanging_ = true;
      return *this;
    }

    // The time of the calling thread, which goes on by what fake engines take there
    static TimePoint& GetClock()
    {
      thread_local TimePoint now;
      return now;
    }

    // Ten times as long as others, so that "auto" prefers them
    FakeEngine& IsSlow()
    {
      isSlow_ = true;
      return *this;
    }

    FakeEngine& HasProblem(const std::string& problem)
    {
      problem_ = problem;
      return *this;
    }

    const char* GetName() const noexcept override
    {
      return name_.c_str();
    }

    std::string GetProblem() const override
    {
      return problem_;
    }

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override
    {
      calls_++;

      GetClock() += std::chrono::milliseconds(isSlow_ ? 10 : 1);

      if (isHanging_)
      {
        std::this_thread::sleep_until(target.deadline);
        return result_.outcome == TranscodingOutcome::Transcoded
                   ? result_
                   : EngineResult::MakeFailed("did not answer in time");
      }

      if (result_.outcome != TranscodingOutcome::Failed || !result_.reason.empty())
      {
        return result_;
      }

      return writable_.count(target.transferSyntax) == 0
                 ? EngineResult::MakeDeclined("not written")
                 : Repack(data, size, target.transferSyntax);
    }

    int GetCalls() const
    {
      return calls_;
    }

  private:
    EngineResult Repack(const void* data, std::size_t size, const std::string& target) const
    {
      DataSetEditor editor{ReceivedFile(data, size)};
      std::string pixels = GetPixels(data, size);
      editor.Set(0x00020010, "UI", target);

      if (!IsEncapsulated(target))
      {
        editor.Set(TAG_PIXEL_DATA, "OW", pixels);
      }
      else
      {
        pixels[0] = static_cast<char>(pixels[0] ^ mask_);
        editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement(MakeFakeFrames(DescribeImage(data, size),
                                                                          target, pixels)));
      }

      if (change_)
      {
        change_(editor);
      }

      return EngineResult::MakeTranscoded(editor.Write());
    }

    static std::string GetPixels(const void* data, std::size_t size)
    {
      const ImageDescription image = DescribeImage(data, size);
      return image.kind == PixelDataKind::Native ? std::string(image.pixelData)
                                                 : ReadFakeFrames(image);
    }

    const std::string name_;
    const std::set<std::string> writable_;
    std::string problem_;
    EngineResult result_;
    Change change_;
    std::uint8_t mask_ = 0;
    bool isHanging_ = false;
    bool isSlow_ = false;
    mutable std::atomic<int> calls_{0};
  };
}
