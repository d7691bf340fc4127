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


    Json::Value Describe(const TranscodingKind& kind)
    {
      Json::Value json;
      json["Source"] = kind.source;
      json["Target"] = kind.target;
      json["PhotometricInterpretation"] = kind.colour;
      json["BitsAllocated"] = kind.bitsAllocated;
      json["BitsStored"] = kind.bitsStored;
      json["SamplesPerPixel"] = kind.samplesPerPixel;
      json["Signed"] = kind.isSigned;
      json["MultiFrame"] = kind.isMultiFrame;
      return json;
    }


    Json::Value Describe(const EngineFigures& figures)
    {
      Json::Value json;
      json["Name"] = figures.engine;
      json["Tries"] = ToJson(figures.tries);
      json["Failures"] = ToJson(figures.failures);
      json["Declines"] = ToJson(figures.declines);
      json["Dropped"] = figures.isDropped;

      if (figures.secondsPerByte > 0)
      {
        json["BytesPerSecond"] = 1 / figures.secondsPerByte;
      }

      AddText(json, "Problem", figures.problem);
      return json;
    }


    Json::Value Describe(const AutoChoice& choice)
    {
      Json::Value json = Describe(choice.kind);
      json["Engine"] = choice.engine.empty() ? Json::Value() : Json::Value(choice.engine);
      json["Reason"] = choice.reason;
      json["Engines"] =
          ListJson(choice.figures, [](const EngineFigures& figures) { return Describe(figures); });
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
    AddText(json, "Reason", problem);

    json["Engines"] = ListJson(sources.engines.GetVerdicts(),
                               [](const EngineVerdict& verdict) { return Describe(verdict); });
    json["Auto"] = ListJson(sources.transcoder.GetAutoChoices(),
                            [](const AutoChoice& choice) { return Describe(choice); });
    json["Failures"] = ListJson(sources.failures.Get(), [](const TranscodingFailure& failure)
                                { return Describe(failure); });
    return json;
  }
}
