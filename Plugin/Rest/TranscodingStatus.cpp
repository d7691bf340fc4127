// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/TranscodingStatus.h"

#include "Rest/RestJson.h"
#include "Tuning/WritableSyntax.h"

namespace OrthancPerf
{
  namespace
  {
    Json::Value Describe(const SyntaxVerdict& verdict)
    {
      const WritableSyntax* const syntax = FindWritableSyntax(verdict.transferSyntax);

      Json::Value json;
      json["TransferSyntax"] = verdict.transferSyntax;
      json["Name"] = syntax == nullptr ? "" : syntax->name;
      json["State"] = ToKey(ToLabel(verdict.state));

      if (verdict.state == SyntaxVerdict::State::Works)
      {
        json["BytesPerSecond"] = verdict.bytesPerSecond;
        json["TriedLast"] = verdict.lastUntil > Clock::now();
      }

      AddText(json, "Reason", verdict.reason);
      return json;
    }


    Json::Value Describe(const EngineVerdict& verdict)
    {
      Json::Value json;
      json["Name"] = verdict.engine;
      json["Available"] = verdict.isAvailable;
      json["Syntaxes"] =
          ListJson(verdict.syntaxes, [](const SyntaxVerdict& syntax) { return Describe(syntax); });
      AddText(json, "Reason", verdict.reason);
      return json;
    }


    Json::Value Describe(const PluginLock& lock)
    {
      Json::Value json;
      json["Known"] = lock.IsKnown();
      json["Released"] = ToJson(lock.CountReleased());
      json["Kept"] = ToJson(lock.CountKept());
      AddText(json, "Reason", lock.GetProblem());
      return json;
    }


    Json::Value Describe(const EngineFailure& failure)
    {
      Json::Value json;
      json["Engine"] = failure.engine.empty() ? Json::Value() : Json::Value(failure.engine);
      json["Target"] = failure.target;
      json["Reason"] = failure.reason;
      json["Count"] = ToJson(failure.count);
      return json;
    }
  }


  Json::Value DescribeTranscoding(const TranscodingSources& sources)
  {
    const std::string problem = sources.getProblem();

    Json::Value json;
    json["InEffect"] = problem.empty();
    json["Tested"] = sources.isTested();
    json["PluginLock"] = Describe(sources.lock);
    AddText(json, "Reason", problem);

    json["Engines"] = ListJson(sources.engines.GetVerdicts(),
                               [](const EngineVerdict& verdict) { return Describe(verdict); });
    json["Failures"] = ListJson(sources.failures.Get(),
                                [](const EngineFailure& failure) { return Describe(failure); });
    return json;
  }
}
