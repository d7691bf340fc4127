// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    class SwitchedOffEngineRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        const std::vector<SwitchedOffEngine>& engines = evidence.transcoding.switchedOff;

        if (engines.empty())
        {
          return std::nullopt;
        }

        Finding finding;
        finding.id = "engine-switched-off";
        finding.title =
            "Transcoding engines failed their self-test: " + std::to_string(engines.size()) +
            " combinations are switched off";
        finding.explanation =
            "When Orthanc starts, each engine writes each transfer syntax once, in a process of "
            "its "
            "own. What crashed, hung or gave wrong pixels there is not used; other engines serve "
            "instead, where there are any.";
        finding.remedy = Remedy::ChangeSystem("Update or reinstall the library that the reason "
                                              "names; /perf/status has the verdict on "
                                              "every engine and syntax.");

        for (const SwitchedOffEngine& off : engines)
        {
          const std::string name =
              off.transferSyntax.empty() ? off.engine : off.engine + " " + off.transferSyntax;
          finding.evidence[name] = off.reason;
        }

        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeSwitchedOffEngineRule()
  {
    return std::make_unique<SwitchedOffEngineRule>();
  }
}
