// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/TranscodingMetrics.h"

#include "Dicom/TransferSyntax.h"
#include "Ingest/Clock.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // The first engine is none at all, in the place of "auto"; the last target is any that is not
    // known
    std::size_t FindLine(EngineChoice engine, const std::string& target)
    {
      const auto& syntaxes = GetWritableSyntaxes();
      const auto found =
          std::find_if(syntaxes.begin(), syntaxes.end(),
                       [&target](const TransferSyntax& syntax) { return target == syntax.uid; });
      return static_cast<std::size_t>(engine) * (syntaxes.size() + 1) +
             static_cast<std::size_t>(found - syntaxes.begin());
    }
  }

  TranscodingMetrics::TranscodingMetrics()
  {
    for (const EngineChoice engine : GetAllEngineChoices())
    {
      EngineAttempts line;
      line.engine = engine == EngineChoice::Automatic ? "none" : ToLabel(engine);

      for (const TransferSyntax& syntax : GetWritableSyntaxes())
      {
        line.target = syntax.name;
        lines_.push_back(line);
      }

      line.target = "other";
      lines_.push_back(line);
    }
  }

  void TranscodingMetrics::OnTranscoding(const TranscodingReport& report) noexcept
  {
    const std::lock_guard lock(mutex_);
    EngineAttempts& line = lines_[FindLine(
        ParseEngineChoice(report.engine).value_or(EngineChoice::Automatic), report.target)];
    std::optional<std::uint64_t>& count = line.outcomes[static_cast<std::size_t>(report.outcome)];
    count = count.value_or(0) + 1;

    if (report.outcome == TranscodingOutcome::Transcoded)
    {
      line.seconds.Add(ToSeconds(report.duration));
      line.sourceBytes += report.sourceSize;
      line.targetBytes += report.targetSize;
    }
  }

  void TranscodingMetrics::Expect(const IngestTranscoding& settings)
  {
    const bool isAny = settings.engine == EngineChoice::Automatic;
    const std::lock_guard lock(mutex_);

    for (const EngineChoice engine : GetAllEngineChoices())
    {
      const bool isWanted = isAny ? engine != EngineChoice::Automatic : engine == settings.engine;

      if (isWanted && !settings.transferSyntax.empty())
      {
        std::optional<std::uint64_t>& failures =
            lines_[FindLine(engine, settings.transferSyntax)]
                .outcomes[static_cast<std::size_t>(TranscodingOutcome::Failed)];
        failures = failures.value_or(0);
      }
    }
  }

  std::vector<EngineAttempts> TranscodingMetrics::GetTotals() const
  {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
}
