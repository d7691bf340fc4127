// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/TranscodingStatus.h"

#include "Rest/RestJson.h"
#include "Tuning/WritableSyntax.h"

namespace OrthancPerf
{
  namespace
  {
    void AddReason(Json::Value& json, const std::string& reason)
    {
      if (!reason.empty())
      {
        json["Reason"] = reason;
      }
    }


    Json::Value Describe(const SyntaxVerdict& verdict)
    {
      const WritableSyntax* const syntax = FindWritableSyntax(verdict.transferSyntax);

      Json::Value json;
      json["TransferSyntax"] = verdict.transferSyntax;
      json["Name"] = syntax == nullptr ? "" : syntax->name;
      json["State"] = ToKey(ToLabel(verdict.state));
      AddReason(json, verdict.reason);
      return json;
    }


    Json::Value Describe(const EngineVerdict& verdict)
    {
      Json::Value json;
      json["Name"] = verdict.engine;
      json["Available"] = verdict.isAvailable;
      json["Syntaxes"] = Json::arrayValue;
      AddReason(json, verdict.reason);

      for (const SyntaxVerdict& syntax : verdict.syntaxes)
      {
        json["Syntaxes"].append(Describe(syntax));
      }

      return json;
    }


    Json::Value Describe(const PluginLock& lock)
    {
      Json::Value json;
      json["Known"] = lock.IsKnown();
      json["Released"] = ToJson(lock.CountReleased());
      json["Kept"] = ToJson(lock.CountKept());
      AddReason(json, lock.GetProblem());
      return json;
    }


    Json::Value Describe(const TranscodingFailure& failure)
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
    json["Engines"] = Json::arrayValue;
    json["Failures"] = Json::arrayValue;
    AddReason(json, problem);

    for (const EngineVerdict& verdict : sources.engines.GetVerdicts())
    {
      json["Engines"].append(Describe(verdict));
    }

    for (const TranscodingFailure& failure : sources.failures.Get())
    {
      json["Failures"].append(Describe(failure));
    }

    return json;
  }
}
