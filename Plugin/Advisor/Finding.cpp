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


    Json::Value ToJson(const Cost& cost)
    {
      Json::Value json;
      json["ShareOfIngestTime"] = cost.shareOfIngestTime;
      json["EstimatedGain"] = cost.gain ? Json::Value(*cost.gain) : Json::Value();
      return json;
    }


    Json::Value ToJson(const Remedy& remedy)
    {
      Json::Value json;
      json["Kind"] = remedy.kind;
      json["Text"] = remedy.text;

      if (!remedy.document.isNull())
      {
        json[remedy.kind] = remedy.document;
      }

      return json;
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
    json["Cost"] = ToJson(finding.cost);
    json["Remedy"] = ToJson(finding.remedy);
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
