// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Transcoder.h"

#include "Transcoding/InstanceTranscoding.h"
#include "Tuning/WritableSyntax.h"

#include <exception>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Outcome = TranscodingOutcome;


    Transcoding MakeUndone(Outcome outcome, std::size_t sourceSize, const char* reason)
    {
      Transcoding transcoding;
      transcoding.report.outcome = outcome;
      transcoding.report.sourceSize = sourceSize;
      transcoding.report.reason = reason;
      return transcoding;
    }
  }


  Transcoder::Transcoder(EngineDirectory& engines, ITranscodingObserver* observer,
                         std::chrono::milliseconds patience) :
    engines_(engines),
    observer_(observer),
    patience_(patience),
    settings_(std::make_shared<const IngestTranscoding>())
  {
  }


  void Transcoder::SetSettings(const IngestTranscoding& settings)
  {
    auto copy = std::make_shared<const IngestTranscoding>(settings);
    const std::lock_guard<std::mutex> lock(mutex_);
    settings_.swap(copy);
  }


  std::shared_ptr<const IngestTranscoding> Transcoder::GetSettings() const noexcept
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return settings_;
  }


  TimePoint Transcoder::GetDeadline(std::size_t size) const noexcept
  {
    return Clock::now() + patience_ + std::chrono::seconds(size >> 20);
  }


  bool Transcoder::IsIngestTranscoding() const noexcept
  {
    return !GetSettings()->transferSyntax.empty();
  }


  bool Transcoder::IsServingOrthanc() const noexcept
  {
    return GetSettings()->orthancTranscoding;
  }


  std::vector<AutoChoice> Transcoder::GetAutoChoices() const
  {
    return auto_.GetChoices();
  }


  Transcoding Transcoder::TranscodeIncoming(const void* data, std::size_t size) noexcept
  {
    const auto settings = GetSettings();

    if (settings->transferSyntax.empty())
    {
      return MakeUndone(Outcome::Unneeded, size, "");
    }

    try
    {
      InstanceTranscoding instance({engines_, auto_, observer_, *settings, GetDeadline(size)}, data,
                                   size);
      return instance.TranscodeIncoming(settings->transferSyntax);
    }
    catch (const std::exception&)  // std::bad_alloc
    {
      return MakeUndone(Outcome::Failed, size, "not enough memory");
    }
  }


  Transcoding Transcoder::TranscodeTo(const void* data, std::size_t size,
                                      const std::vector<std::string>& syntaxes) noexcept
  {
    const auto settings = GetSettings();

    try
    {
      InstanceTranscoding instance({engines_, auto_, observer_, *settings, GetDeadline(size)}, data,
                                   size);

      if (instance.IsInOneOf(syntaxes))
      {
        return MakeUndone(Outcome::Unneeded, size, "in one of the targets already");
      }

      Transcoding last =
          MakeUndone(Outcome::Declined, size, "none of the transfer syntaxes can be written");

      for (const std::string& target : syntaxes)
      {
        if (last.report.outcome != Outcome::Transcoded && FindWritableSyntax(target) != nullptr &&
            !IsLossy(target))
        {
          last = instance.TranscodeTo(target);
        }
      }

      return last;
    }
    catch (const std::exception&)  // std::bad_alloc
    {
      return MakeUndone(Outcome::Failed, size, "not enough memory");
    }
  }
}
