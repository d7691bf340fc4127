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


    // The engines that write uncompressed files, the preferred one first
    std::vector<const ITranscodingEngine*> FindDecoders(const EngineDirectory& engines,
                                                        const std::string& preferred)
    {
      std::vector<const ITranscodingEngine*> decoders = engines.FindAll(UNCOMPRESSED);
      std::stable_partition(decoders.begin(), decoders.end(),
                            [&preferred](const ITranscodingEngine* engine)
                            { return preferred == engine->GetName(); });
      return decoders;
    }


    // Why the directory gives no such engine for this target
    EngineMeasurement ExplainAbsence(const EngineDirectory& engines, const std::string& name,
                                     const std::string& target)
    {
      EngineMeasurement measurement;
      measurement.outcome = TranscodingOutcome::Declined;
      measurement.reason = "there is no such engine";

      for (const EngineVerdict& verdict : engines.GetVerdicts())
      {
        if (verdict.engine != name)
        {
          continue;
        }

        measurement.reason =
            verdict.isAvailable ? "the engine does not write this transfer syntax" : verdict.reason;

        for (const SyntaxVerdict& syntax : verdict.syntaxes)
        {
          if (verdict.isAvailable && syntax.transferSyntax == target && !syntax.reason.empty())
          {
            measurement.reason = "switched off by the self-test: " + syntax.reason;
          }
        }
      }

      return measurement;
    }


    // Takes over what the pixels tell; false if these two can't be compared
    bool Compare(EngineMeasurement& measurement, bool isLossy, const std::string& uncompressed,
                 const std::string& decoded)
    {
      const ImageDescription expected = DescribeImage(uncompressed.data(), uncompressed.size());
      const ImageDescription actual = DescribeImage(decoded.data(), decoded.size());
      const PixelComparison comparison = ComparePixels(expected, actual);
      const bool isSame = comparison.verdict == PixelComparison::Verdict::Same;

      measurement.pixels = comparison.verdict;
      measurement.error = isSame ? PixelError() : MeasureError(expected, actual);
      measurement.reason = isLossy && measurement.error ? "" : comparison.reason;
      return measurement.error || comparison.verdict != PixelComparison::Verdict::Incomparable;
    }


    // Decodes the engine's work, by the engine itself if it can, and compares it with what it was
    // made from
    void Verify(EngineMeasurement& measurement, const EngineDirectory& engines,
                const std::string& engine, bool isLossy, const std::string& encoded,
                const std::string& uncompressed)
    {
      measurement.reason = "no engine decodes the result";

      for (const ITranscodingEngine* const decoder : FindDecoders(engines, engine))
      {
        const TimePoint start = Clock::now();
        const EngineResult decoded =
            decoder->Transcode(encoded.data(), encoded.size(), {UNCOMPRESSED});
        const Duration duration = Clock::now() - start;

        if (decoded.outcome != TranscodingOutcome::Transcoded)
        {
          measurement.reason = "not decoded: " + decoded.reason;
          continue;
        }

        measurement.decoder = decoder->GetName();
        measurement.decoding = duration;

        if (Compare(measurement, isLossy, uncompressed, decoded.file))
        {
          break;
        }
      }
    }
  }


  EngineResult Uncompress(const EngineDirectory& engines, const std::string& file)
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

    if (image.transferSyntax.data() == std::string(UNCOMPRESSED))
    {
      return EngineResult::MakeTranscoded(file);
    }

    EngineResult last = EngineResult::MakeDeclined("there is no engine that decodes");

    for (const ITranscodingEngine* const decoder : FindDecoders(engines, ""))
    {
      last = decoder->Transcode(file.data(), file.size(), {UNCOMPRESSED});

      if (last.outcome == TranscodingOutcome::Transcoded)
      {
        break;
      }
    }

    return last;
  }


  EngineMeasurement MeasureEngine(const EngineDirectory& engines, const std::string& engine,
                                  const TranscodingTarget& target, const std::string& uncompressed)
  {
    const ITranscodingEngine* const encoder = engines.Find(engine, target.transferSyntax);

    if (encoder == nullptr)
    {
      return ExplainAbsence(engines, engine, target.transferSyntax);
    }

    EngineMeasurement measurement;
    const TimePoint start = Clock::now();
    EngineResult result = encoder->Transcode(uncompressed.data(), uncompressed.size(), target);
    measurement.encoding = Clock::now() - start;
    measurement.outcome = result.outcome;
    measurement.reason = std::move(result.reason);
    measurement.uncompressedSize = uncompressed.size();

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      const WritableSyntax* const syntax = FindWritableSyntax(target.transferSyntax);
      const bool isLossy = syntax != nullptr && syntax->isLossy;
      measurement.targetSize = result.file.size();
      Verify(measurement, engines, engine, isLossy, result.file, uncompressed);
    }

    return measurement;
  }
}
