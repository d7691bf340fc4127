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
  Transcoding Transcoder::Run(std::size_t size, const Work& work) noexcept
  {
    const auto settings = GetSettings();
    const TimePoint deadline = Clock::now() + patience_ + std::chrono::seconds(size >> 20);

    try
    {
      return work({engines_, observer_, *settings, deadline});
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


  Transcoding Transcoder::TranscodeIncoming(const ReceivedFile& file,
                                            const IsDuplicate& isDuplicate) noexcept
  {
    return Run(file.bytes.size(),
               [&](const TranscodingSurroundings& surroundings)
               {
                 const std::string& target = surroundings.settings.transferSyntax;
                 return target.empty() ? Transcoding()
                                       : InstanceTranscoding(surroundings, file)
                                             .TranscodeIncoming(target, isDuplicate);
               });
  }


  Transcoding Transcoder::TranscodeTo(const void* data, std::size_t size,
                                      const std::vector<std::string>& syntaxes) noexcept
  {
    return Run(size,
               [&](const TranscodingSurroundings& surroundings)
               {
                 const ReceivedFile file(data, size);
                 return InstanceTranscoding(surroundings, file).TranscodeToOneOf(syntaxes);
               });
  }
}
