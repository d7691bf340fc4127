// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/ResultCheck.h"

#include "Dicom/TransferSyntax.h"
#include "Transcoding/LossyDerivation.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/PixelComparison.h"
#include "Transcoding/Verification.h"

#include <algorithm>
#include <exception>
#include <functional>
#include <optional>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // Who asks for an uncompressed target does not do so for its size
    bool IsLosslessCompression(const std::string& target)
    {
      return !IsLossy(target) &&
             (IsEncapsulated(target) || target == TransferSyntaxUid::DEFLATED_LITTLE_ENDIAN);
    }

    // For Orthanc, it would be another instance or image
    std::string FindChange(const TranscodingTask& task, const ReceivedFile& file)
    {
      const ReceivedFile& source = task.source;

      if (file.image.isDeflated)
      {
        constexpr const char* INFLATED = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;
        const EngineResult result = Uncompress(task.engines.FindAll(INFLATED), file.bytes.data(),
                                               file.bytes.size(), task.deadline);
        const ReceivedFile inflated(result.file);
        const std::string flaw =
            result.outcome == TranscodingOutcome::Transcoded
                ? FindFlaw(inflated, INFLATED, source.identity.GetSopInstanceUid())
                : "deflated, and not inflated again: " + result.reason;
        return flaw.empty() ? FindChange(task, inflated) : flaw;
      }

      if (!file.IsComplete() || !file.identity.HasSameIdentifiers(source.identity))
      {
        return "Orthanc would give it other identifiers";
      }

      if (const std::string other = FindOtherAttributes(source.image, file.image); !other.empty())
      {
        return "wrote another image: " + other;
      }

      return task.isIncoming ? FindLossOfPicture(source.image, file.image) : "";
    }

    std::string Verify(const TranscodingTask& task, const ITranscodingEngine& engine,
                       const std::string& target, const ReceivedFile& file)
    {
      const auto isEncoder = [&engine](const ITranscodingEngine* other)
      {
        return other == &engine;
      };

      std::vector<const ITranscodingEngine*> ofSource =
          task.engines.FindAll(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
      std::vector<const ITranscodingEngine*> ofResult = ofSource;
      std::stable_partition(ofSource.begin(), ofSource.end(), isEncoder);
      std::stable_partition(ofResult.begin(), ofResult.end(), std::not_fn(isEncoder));

      const auto quality =
          IsLossy(target) ? std::make_optional(task.settings.lossyQuality) : std::nullopt;
      const std::string problem =
          FindDamage({task.source, file, quality, task.deadline}, ofSource, ofResult);
      return problem.empty() ? "" : "verification failed: " + problem;
    }

    std::string Derive(const TranscodingTask& task, const std::string& target,
                       const ReceivedFile& file, Transcoding& result)
    {
      try
      {
        const unsigned int quality = task.settings.lossyQuality;
        const LossyDerivation derivation = {target, quality,
                                            MakeDerivedUid(task.source.image, target, quality)};
        result.file = DescribeLossyDerivation(file, task.source, derivation);
        const ReceivedFile derived(result.file);
        result.identity = derived.identity;
        return FindFlaw(derived, target, derivation.sopInstanceUid);
      }
      catch (const std::exception& error)
      {
        return std::string("can't describe the lossy derivation: ") + error.what();
      }
    }
  }

  std::string CheckResult(const TranscodingTask& task, const ITranscodingEngine& engine,
                          const std::string& target, Transcoding& result)
  {
    const ReceivedFile file(result.file);
    result.identity = file.identity;
    std::string flaw = FindFlaw(file, target, task.source.identity.GetSopInstanceUid());

    if (!flaw.empty())
    {
      return flaw;
    }

    result.report.isLarger = task.isIncoming && IsLosslessCompression(target) &&
                             file.bytes.size() > task.source.bytes.size();
    flaw = result.report.isLarger ? "larger than what came" : FindChange(task, file);

    if (!flaw.empty())
    {
      result.report.outcome = TranscodingOutcome::Declined;
      return flaw;
    }

    if (task.settings.verify)
    {
      const TimePoint start = Clock::now();
      flaw = Verify(task, engine, target, file);
      result.report.verification = Clock::now() - start;
    }

    return flaw.empty() && IsLossy(target) ? Derive(task, target, file, result) : flaw;
  }
}
