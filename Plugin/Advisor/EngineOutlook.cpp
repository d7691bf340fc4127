// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/EngineOutlook.h"

namespace OrthancPerf
{
  TranscodingEvidence DescribeEngines(const std::vector<EngineVerdict>& verdicts,
                                      const IngestTranscoding& tuning)
  {
    TranscodingEvidence evidence;

    for (const EngineVerdict& engine : verdicts)
    {
      if (engine.isTested && !engine.isAvailable)
      {
        evidence.switchedOff.push_back({engine.engine, "", engine.reason});
      }

      for (const SyntaxVerdict& syntax : engine.syntaxes)
      {
        if (syntax.state == SyntaxVerdict::State::SwitchedOff)
        {
          evidence.switchedOff.push_back({engine.engine, syntax.transferSyntax, syntax.reason});
        }
        else if (syntax.state == SyntaxVerdict::State::Works && engine.isAvailable &&
                 syntax.transferSyntax == tuning.transferSyntax)
        {
          evidence.alternatives.push_back(engine.engine);
        }
      }
    }

    return evidence;
  }
}
