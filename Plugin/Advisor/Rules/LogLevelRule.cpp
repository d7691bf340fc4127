// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    // The levels of /tools/log-level that write lines for each instance
    bool IsVerbose(const std::string& level)
    {
      return level == "verbose" || level == "trace";
    }


    class LogLevelRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        Json::Value levels;

        for (const auto& [category, level] : evidence.facts.logLevels)
        {
          if (IsVerbose(level))
          {
            levels[category.empty() ? "All" : category] = level;
          }
        }

        if (levels.isNull())
        {
          return std::nullopt;
        }

        Finding finding;
        finding.id = "verbose-logs";
        finding.title = "Orthanc logs every step of every instance";
        finding.explanation =
            "The log level is \"verbose\" or \"trace\": some dozen lines an instance, each written "
            "under a lock that all threads share.";
        finding.evidence = levels;
        finding.remedy = Remedy::ChangeSystem(
            "curl -X PUT http://localhost:8042/tools/log-level -d default (likewise "
            "/tools/log-level-dicom and so on, for single categories), and start Orthanc without "
            "--verbose or --trace.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeLogLevelRule()
  {
    return std::make_unique<LogLevelRule>();
  }
}
