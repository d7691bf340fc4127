// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Finding.h"

#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

namespace OrthancPerf
{
  // What a rule has found
  struct Judgement
  {
    using Figures = std::initializer_list<std::pair<const char*, Json::Value>>;

    Judgement(Figures figures, const Cost& cost = {}, const char* variant = "", Figures words = {});

    Json::Value figures = Json::objectValue;  // Finding::evidence
    Cost cost;
    std::string variant;                    // of the texts; empty: the only one, or the usual one
    Json::Value words = Json::objectValue;  // for the texts alone, which have the figures as well
    Json::Value document;                   // of the remedy; null: the one of the texts, if any
  };

  // The judgement if its condition holds. Where it does not, the figures may be any numbers.
  std::optional<Judgement> JudgeIf(bool isFound, Judgement::Figures figures, const Cost& cost = {},
                                   const char* variant = "", Judgement::Figures words = {});

  // Findings.json, the file with the words of all findings, which CMake builds in. Each has
  //
  //   "fsync": {
  //     "Title": "Making a file durable takes {MeanSync time}",
  //     "Explanation": "That is {SyncShare share} of an instance's time.",
  //     "Remedy": {"Kind": "Configuration", "Document": {"SyncStorageArea": false}, "Text": "…"},
  //     "Variants": {"remote": {"Explanation": "…"}},  // what is different in a variant
  //     "Documentation": {…}}                          // the row of Documentation/reference.md
  //
  // A text may be a list of sentences. {Name} stands for a figure or a word of the judgement. A
  // unit behind the name says how a number is written:
  //
  //   {Name time}     0.04 as "40 ms"        {Name count}    2.7 as "3"
  //   {Name size}     65536 as "64 KiB"      {Name number}   5.32 as "5.3"
  //   {Name share}    0.85 as "85 %"
  const Json::Value& GetFindingTexts();

  // The finding of this identifier, without a peer. What the file does not have is left empty.
  Finding Describe(const std::string& id, const Judgement& judgement);
}
