// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What a finding costs. Both are estimates from the evidence, not promises.
  struct Cost
  {
    double shareOfIngestTime = 0;  // 0 to 1, of the time of all instances in that direction
    std::optional<double> gain;    // how many times faster those concerned would be without it
  };

  // What to do
  struct Remedy
  {
    // "Tuning": the document is a merge patch for PUT /perf/tuning; "Configuration": options of
    // Orthanc's configuration; "System": something outside of Orthanc on its machine, as a sysctl
    // or a disk; "Peer": something that the peer's administrator can do
    std::string kind;

    Json::Value document;  // null for the last two
    std::string text;      // plain words
  };

  // What holds ingest back, why that is believed, and what to do. A value.
  struct Finding
  {
    std::string id;                            // stable: "delayed-ack"
    std::string peer;                          // empty: it is about the whole server
    std::string title;                         // one sentence
    std::string explanation;                   // what happens, and why
    Json::Value evidence = Json::objectValue;  // the figures, by names in PascalCase
    Cost cost;
    Remedy remedy;
    std::int64_t since = 0;  // seconds since 1970; set by the advisor
  };

  // That a finding was there, and when. A value.
  struct FindingRecord
  {
    std::string id;
    std::string peer;  // empty: it was about the whole server
    std::string title;
    std::int64_t begin = 0;           // seconds since 1970
    std::optional<std::int64_t> end;  // nothing: it is still there
  };

  Json::Value ToJson(const Finding& finding);
  Json::Value ToJson(const FindingRecord& record);
}
