// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/EditFile.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/FakeCodestream.h"

#include <atomic>
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
    explicit FakeEngine(std::string name,
                        std::set<std::string> writable = {EXPLICIT_LITTLE_ENDIAN, JPEG_BASELINE,
                                                          JPEG_LOSSLESS, RLE}) :
      name_(std::move(name)),
      writable_(std::move(writable))
    {
    }

    void Fails(const std::string& reason)
    {
      result = EngineResult::MakeFailed(reason);
    }

    void Declines(const std::string& reason)
    {
      result = EngineResult::MakeDeclined(reason);
    }

    void Writes(const std::string& file)
    {
      result = EngineResult::MakeTranscoded(file);
    }

    void Changes(FileChange change)
    {
      change_ = std::move(change);
    }

    // The time of the calling thread, which goes on by what fake engines take there
    static TimePoint& GetClock()
    {
      thread_local TimePoint now;
      return now;
    }

    const char* GetName() const noexcept override
    {
      return name_.c_str();
    }

    std::string GetProblem() const override
    {
      return problem;
    }

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override
    {
      calls_++;

      GetClock() += std::chrono::milliseconds(isSlow ? 10 : 1);

      if (isHanging)
      {
        std::this_thread::sleep_until(target.deadline);
        return result.outcome == TranscodingOutcome::Transcoded
                   ? result
                   : EngineResult::MakeFailed("did not answer in time");
      }

      if (result.outcome != TranscodingOutcome::Failed || !result.reason.empty())
      {
        return result;
      }

      return writable_.count(target.transferSyntax) == 0
                 ? EngineResult::MakeDeclined("not written")
                 : Repack(data, size, target.transferSyntax);
    }

    int GetCalls() const
    {
      return calls_;
    }

    EngineResult result;     // instead of what it would write; empty: that
    std::uint8_t mask = 0;   // encoding puts out other pixels
    bool isHanging = false;  // until the deadline, too late for all but a result
    bool isSlow = false;     // ten times as slow as others, so that "auto" prefers them
    std::string problem;

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
        pixels[0] = static_cast<char>(pixels[0] ^ mask);
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
    FileChange change_;
    mutable std::atomic<int> calls_{0};
  };
}
