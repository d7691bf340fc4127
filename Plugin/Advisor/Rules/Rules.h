// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Rule.h"

#include <optional>
#include <vector>

namespace OrthancPerf
{
  // All rules there are, as tables: each row has a finding's identifier and the function that finds
  // it, which stands above its table with what it takes for enough evidence, and why. To add a
  // finding, add such a function, a row, and its words to Findings.json.
  std::vector<Rule> MakeAllRules();

  std::vector<Rule> MakeServerRules();   // failures, threads, memory, options
  std::vector<Rule> MakeNetworkRules();  // by peer
  std::vector<Rule>
  MakeStoringRules();  // storage, MD5, compression; whether the processor is short
  std::vector<Rule> MakeDatabaseRules();     // the way to it and connections
  std::vector<Rule> MakeTranscodingRules();  // engines

  // Of the storing rules, the one about the database: those three stand together
  std::optional<Judgement> JudgeIndex(const Evidence& evidence);
}
