// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Finding.h"

#include "Ingest/Clock.h"

namespace OrthancPerf
{
  namespace
  {
    // Seconds since 1970
    Json::Value ToMoment(std::int64_t seconds)
    {
      return FormatMoment(std::chrono::system_clock::from_time_t(seconds));
    }
  }


  Json::Value ToJson(const Finding& finding)
  {
    Json::Value json;
    json["ID"] = finding.id;

    if (!finding.peer.empty())
    {
      json["Peer"] = finding.peer;
    }

    json["Title"] = finding.title;
    json["Explanation"] = finding.explanation;
    json["Evidence"] = finding.evidence;
    json["Cost"]["ShareOfIngestTime"] = finding.cost.shareOfIngestTime;
    json["Cost"]["EstimatedGain"] =
        finding.cost.gain ? Json::Value(*finding.cost.gain) : Json::Value();
    json["Remedy"]["Kind"] = finding.remedy.kind;
    json["Remedy"]["Text"] = finding.remedy.text;

    if (!finding.remedy.document.isNull())
    {
      json["Remedy"][finding.remedy.kind] = finding.remedy.document;
    }

    json["Since"] = ToMoment(finding.since);
    return json;
  }


  Json::Value ToJson(const FindingRecord& record)
  {
    Json::Value json;
    json["ID"] = record.id;

    if (!record.peer.empty())
    {
      json["Peer"] = record.peer;
    }

    json["Title"] = record.title;
    json["Begin"] = ToMoment(record.begin);
    json["End"] = record.end ? ToMoment(*record.end) : Json::Value();
    return json;
  }
}
