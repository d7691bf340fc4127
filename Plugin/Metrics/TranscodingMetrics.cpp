// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/TranscodingMetrics.h"

#include "Ingest/Clock.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <exception>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    using Outcome = TranscodingOutcome;

    constexpr std::size_t OUTCOME_COUNT_OF_REPORTS = 5;
    constexpr std::size_t SIDE_COUNT = 2;

    enum Side : std::size_t
    {
      SOURCE,
      TARGET
    };


    // Seconds: from a small image with RLE, to hundreds of frames with JPEG 2000
    const prometheus::Histogram::BucketBoundaries& GetBuckets()
    {
      static const prometheus::Histogram::BucketBoundaries BUCKETS = {
          0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60};
      return BUCKETS;
    }


    // Numbers of lines: one for each engine and target. The first engine is none at all, in the
    // place of "auto", and the last target is any that is not known.
    std::size_t GetTargetCount()
    {
      return GetWritableSyntaxes().size() + 1;
    }


    std::size_t GetLineCount()
    {
      return ENGINE_CHOICE_COUNT * GetTargetCount();
    }


    std::size_t FindLine(EngineChoice engine, const std::string& target)
    {
      const auto& syntaxes = GetWritableSyntaxes();
      const auto found =
          std::find_if(syntaxes.begin(), syntaxes.end(),
                       [&target](const WritableSyntax& syntax) { return target == syntax.uid; });
      return static_cast<std::size_t>(engine) * GetTargetCount() +
             static_cast<std::size_t>(found - syntaxes.begin());
    }


    prometheus::Labels MakeLabels(std::size_t line)
    {
      const EngineChoice engine = GetAllEngineChoices().at(line / GetTargetCount());
      const std::size_t target = line % GetTargetCount();
      const auto& syntaxes = GetWritableSyntaxes();
      return {{"engine", engine == EngineChoice::Automatic ? "none" : ToLabel(engine)},
              {"target", target < syntaxes.size() ? syntaxes[target].name : "other"}};
    }


    prometheus::Labels MakeOutcomeLabels(std::size_t number)
    {
      prometheus::Labels labels = MakeLabels(number / OUTCOME_COUNT_OF_REPORTS);
      labels["outcome"] = ToLabel(static_cast<Outcome>(number % OUTCOME_COUNT_OF_REPORTS));
      return labels;
    }


    prometheus::Labels MakeSideLabels(std::size_t number)
    {
      prometheus::Labels labels = MakeLabels(number / SIDE_COUNT);
      labels["side"] = number % SIDE_COUNT == SOURCE ? "source" : "target";
      return labels;
    }
  }


  TranscodingMetrics::TranscodingMetrics(const std::string& prefix) :
    seconds_(prometheus::BuildHistogram()
                 .Name(prefix + "_seconds")
                 .Help("Time that an engine took to transcode an instance.")
                 .Register(registry_),
             GetLineCount(), &MakeLabels, GetBuckets()),
    total_(prometheus::BuildCounter()
               .Name(prefix + "_total")
               .Help("Attempts to transcode an instance, by what came of them.")
               .Register(registry_),
           GetLineCount() * OUTCOME_COUNT_OF_REPORTS, &MakeOutcomeLabels),
    bytes_(prometheus::BuildCounter()
               .Name(prefix + "_bytes_total")
               .Help("Bytes of the DICOM files that engines read and wrote.")
               .Register(registry_),
           GetLineCount() * SIDE_COUNT, &MakeSideLabels)
  {
  }


  void TranscodingMetrics::OnTranscoding(const TranscodingReport& report) noexcept
  {
    try
    {
      Count(report);
    }
    catch (const std::exception&)
    {
      // Out of memory: one transcoding uncounted is better than Orthanc down
    }
  }


  void TranscodingMetrics::Expect(const IngestTranscoding& settings)
  {
    if (settings.transferSyntax.empty())
    {
      return;
    }

    const bool isAny = settings.engine == EngineChoice::Automatic;

    for (const EngineChoice engine : GetAllEngineChoices())
    {
      if (isAny ? engine != EngineChoice::Automatic : engine == settings.engine)
      {
        GetTotal(FindLine(engine, settings.transferSyntax), Outcome::Failed);
      }
    }
  }


  void TranscodingMetrics::Collect(const Receive& receive) const
  {
    CollectFrom(registry_, receive);
  }


  void TranscodingMetrics::Count(const TranscodingReport& report)
  {
    const std::size_t line =
        FindLine(ParseEngineChoice(report.engine).value_or(EngineChoice::Automatic), report.target);
    GetTotal(line, report.outcome).Increment();

    if (report.outcome == Outcome::Transcoded)
    {
      seconds_.Get(line).Observe(ToSeconds(report.duration));
      bytes_.Get(line * SIDE_COUNT + SOURCE).Increment(static_cast<double>(report.sourceSize));
      bytes_.Get(line * SIDE_COUNT + TARGET).Increment(static_cast<double>(report.targetSize));
    }
  }


  prometheus::Counter& TranscodingMetrics::GetTotal(std::size_t line, Outcome outcome) const
  {
    return total_.Get(line * OUTCOME_COUNT_OF_REPORTS + static_cast<std::size_t>(outcome));
  }
}
