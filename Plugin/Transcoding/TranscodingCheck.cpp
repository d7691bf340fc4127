// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/TranscodingCheck.h"

#include "Tuning/SettingError.h"
#include "Tuning/TuningSchema.h"
#include "Tuning/WritableSyntax.h"

#include <boost/algorithm/string/join.hpp>

namespace OrthancPerf
{
  namespace
  {
    std::string MakePath(const char* key)
    {
      return std::string(INGEST_TRANSCODING) + "." + key;
    }


    void CheckEngine(const std::string& engine, const std::vector<EngineVerdict>& verdicts)
    {
      std::vector<std::string> allowed = {"\"auto\""};
      std::string reason = "this build has no such engine";

      for (const EngineVerdict& verdict : verdicts)
      {
        if (verdict.isAvailable && verdict.engine == engine)
        {
          return;
        }

        if (verdict.isAvailable)
        {
          allowed.push_back("\"" + verdict.engine + "\"");
        }
        else if (verdict.engine == engine)
        {
          reason = verdict.reason;
        }
      }

      throw SettingError::ForValue(MakePath("Engine"), engine,
                                   boost::algorithm::join(allowed, ", ") + "; \"" + engine +
                                       "\" is not available: " + reason);
    }


    // The reason why the engine, or each of them if the name is empty, does not write the syntax
    std::string GetReason(const std::string& engine, const std::string& transferSyntax,
                          const std::vector<EngineVerdict>& verdicts)
    {
      std::vector<std::string> reasons;

      for (const EngineVerdict& verdict : verdicts)
      {
        for (const SyntaxVerdict& syntax : verdict.syntaxes)
        {
          if ((engine.empty() || verdict.engine == engine) &&
              syntax.state == SyntaxVerdict::State::SwitchedOff &&
              syntax.transferSyntax == transferSyntax)
          {
            reasons.push_back("\"" + verdict.engine + "\" has it switched off: " + syntax.reason);
          }
        }
      }

      return boost::algorithm::join(reasons, ", ");
    }


    bool IsWritten(const std::string& engine, const std::string& transferSyntax,
                   const EngineDirectory& engines)
    {
      return engine.empty() ? !engines.FindAll(transferSyntax).empty()
                            : engines.Find(engine, transferSyntax) != nullptr;
    }


    // An empty engine: any
    void CheckSyntax(const std::string& engine, const std::string& transferSyntax,
                     const EngineDirectory& engines)
    {
      if (IsWritten(engine, transferSyntax, engines))
      {
        return;
      }

      std::vector<std::string> written;

      for (const WritableSyntax& syntax : GetWritableSyntaxes())
      {
        if (IsWritten(engine, syntax.uid, engines))
        {
          written.emplace_back(syntax.name);
        }
      }

      const std::string reason = GetReason(engine, transferSyntax, engines.GetVerdicts());
      throw SettingError::ForValue(
          MakePath("TransferSyntax"), transferSyntax,
          "\"\" or what " +
              (engine.empty() ? "the engines write" : "the engine \"" + engine + "\" writes") +
              " here: " + (written.empty() ? "nothing" : boost::algorithm::join(written, ", ")) +
              (reason.empty() ? "" : "; " + reason));
    }
  }


  void CheckTranscodingSettings(const IngestTranscoding& settings, const EngineDirectory& engines)
  {
    const bool isAny = settings.engine == EngineChoice::Automatic;
    const std::string engine = isAny ? "" : ToLabel(settings.engine);

    if (!isAny)
    {
      CheckEngine(engine, engines.GetVerdicts());
    }

    if (!settings.transferSyntax.empty())
    {
      CheckSyntax(engine, settings.transferSyntax, engines);
    }
  }
}
