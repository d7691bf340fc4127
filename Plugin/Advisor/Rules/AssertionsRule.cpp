// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  namespace
  {
    class AssertionsRule : public ServerRule
    {
    protected:
      std::optional<Finding> JudgeServer(const Evidence& evidence) const override
      {
        if (!evidence.facts.hasAssertions)
        {
          return std::nullopt;
        }

        Finding finding;
        finding.id = "debug-build";
        finding.title = "This Orthanc was built for debugging";
        finding.explanation =
            "The program holds a warning that is left out of release builds: it checks its own "
            "assertions all the time (built without NDEBUG; its log says so at the start), was not "
            "optimized, or both.";
        finding.evidence["Build"] = "for debugging";
        finding.remedy = Remedy::ChangeSystem(
            "Use a release build (cmake -DCMAKE_BUILD_TYPE=Release), or the packages of a "
            "distribution or of the Orthanc project.");
        return finding;
      }
    };
  }


  std::unique_ptr<IRule> MakeAssertionsRule()
  {
    return std::make_unique<AssertionsRule>();
  }
}
