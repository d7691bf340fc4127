// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Transcoder.h"

#include "Transcoding/InstanceTranscoding.h"

#include <exception>

namespace OrthancPerf
{
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


  template <typename Work>
  Transcoding Transcoder::Run(const void* data, std::size_t size, const Work& work) noexcept
  {
    const auto settings = GetSettings();
    const TimePoint deadline = Clock::now() + patience_ + std::chrono::seconds(size >> 20);

    try
    {
      InstanceTranscoding instance({engines_, observer_, *settings, deadline}, data, size);
      return work(instance, *settings);
    }
    catch (const std::exception&)  // std::bad_alloc
    {
      Transcoding failed;
      failed.report.outcome = TranscodingOutcome::Failed;
      failed.report.sourceSize = size;
      failed.report.reason = "No memory";  // short enough to need none
      return failed;
    }
  }


  Transcoding Transcoder::TranscodeIncoming(const void* data, std::size_t size,
                                            const IsDuplicate& isDuplicate) noexcept
  {
    return Run(data, size,
               [&isDuplicate](InstanceTranscoding& instance, const IngestTranscoding& settings)
               {
                 return settings.transferSyntax.empty()
                            ? Transcoding()
                            : instance.TranscodeIncoming(settings.transferSyntax, isDuplicate);
               });
  }


  Transcoding Transcoder::TranscodeTo(const void* data, std::size_t size,
                                      const std::vector<std::string>& syntaxes) noexcept
  {
    return Run(data, size,
               [&syntaxes](InstanceTranscoding& instance, const IngestTranscoding&)
               { return instance.TranscodeToOneOf(syntaxes); });
  }
}
