// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineMeasurement.h"

#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // What pixels are compared in
    constexpr const char* UNCOMPRESSED = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;


    // Takes over what the pixels tell; false if these two can't be compared
    bool Compare(EngineMeasurement& measurement, const std::string& uncompressed,
                 const std::string& decoded)
    {
      const ImageDescription expected = DescribeImage(uncompressed.data(), uncompressed.size());
      const ImageDescription actual = DescribeImage(decoded.data(), decoded.size());
      const PixelComparison comparison = ComparePixels(expected, actual);
      const bool isSame = comparison.verdict == PixelComparison::Verdict::Same;

      measurement.pixels = comparison.verdict;
      measurement.error = isSame ? PixelError() : MeasureError(expected, actual);
      measurement.report.reason =
          IsLossy(measurement.report.target) && measurement.error ? "" : comparison.reason;
      return measurement.error || comparison.verdict != PixelComparison::Verdict::Incomparable;
    }


    // Decodes the engine's work, by the engine itself if it can, and compares it with what it was
    // made from
    void Verify(EngineMeasurement& measurement, const EngineDirectory& engines,
                const std::string& encoded, const std::string& uncompressed)
    {
      measurement.report.reason = "no engine decodes the result";

      std::vector<const ITranscodingEngine*> decoders = engines.FindAll(UNCOMPRESSED);
      std::stable_partition(decoders.begin(), decoders.end(),
                            [&measurement](const ITranscodingEngine* decoder)
                            { return measurement.report.engine == decoder->GetName(); });

      for (const ITranscodingEngine* const decoder : decoders)
      {
        const TimePoint start = Clock::now();
        const EngineResult decoded =
            decoder->Transcode(encoded.data(), encoded.size(), {UNCOMPRESSED});
        const Duration duration = Clock::now() - start;

        if (decoded.outcome != TranscodingOutcome::Transcoded)
        {
          measurement.report.reason = "not decoded: " + decoded.reason;
          continue;
        }

        measurement.decoder = decoder->GetName();
        measurement.decoding = duration;

        if (Compare(measurement, uncompressed, decoded.file))
        {
          break;
        }
      }
    }
  }


  EngineResult UncompressStored(const EngineDirectory& engines, const std::string& file)
  {
    const ImageDescription image = DescribeImage(file.data(), file.size());

    if (image.kind == PixelDataKind::None)
    {
      return EngineResult::MakeDeclined("no pixel data");
    }

    const std::string obstacle = FindObstacle(image, UNCOMPRESSED);

    if (!obstacle.empty() && !image.isDeflated)
    {
      return EngineResult::MakeDeclined(obstacle);
    }

    return image.transferSyntax.data() == std::string(UNCOMPRESSED)
               ? EngineResult::MakeTranscoded(file)
               : Uncompress(engines.FindAll(UNCOMPRESSED), file.data(), file.size());
  }


  EngineMeasurement MeasureEngine(const EngineDirectory& engines, const std::string& engine,
                                  const TranscodingTarget& target, const std::string& uncompressed)
  {
    const ITranscodingEngine* const encoder = engines.Find(engine, target.transferSyntax);
    EngineMeasurement measurement;
    TranscodingReport& report = measurement.report;
    report.engine = engine;
    report.target = target.transferSyntax;

    if (encoder == nullptr)
    {
      report.outcome = TranscodingOutcome::Declined;
      report.reason = engines.Explain(engine, target.transferSyntax);
      return measurement;
    }

    const TimePoint start = Clock::now();
    EngineResult result = encoder->Transcode(uncompressed.data(), uncompressed.size(), target);
    report.duration = Clock::now() - start;
    report.outcome = result.outcome;
    report.reason = std::move(result.reason);
    report.sourceSize = uncompressed.size();
    report.targetSize = result.file.size();

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      Verify(measurement, engines, result.file, uncompressed);
    }

    return measurement;
  }
}
