// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"
#include "Tuning/WritableSyntax.h"

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
        finding.title = "Transcoding engines failed their self-test: " + ListEngines(engines);
        finding.explanation =
            "When Orthanc starts, each engine writes each transfer syntax once, in a process of "
            "its own. An engine whose program is missing or does not start is not used, nor is a "
            "transfer syntax at which it crashed, hung or gave wrong pixels. Where the tuning "
            "names that engine, instances are stored as received; \"auto\" takes another one.";
        finding.remedy = Remedy::ChangeSystem(
            "Install the plugin's programs OrthancPerfDcmtk and OrthancPerfGdcm beside "
            "libOrthancPerf.so, with the DCMTK and GDCM libraries that they were built for, and "
            "restart Orthanc. /perf/status has the verdict on every engine and transfer syntax.");

        for (const SwitchedOffEngine& off : engines)
        {
          finding.evidence[GetName(off)] = off.reason;
        }

        return finding;
      }

    private:
      // "gdcm", "gdcm JPEG-LS"
      static std::string GetName(const SwitchedOffEngine& off)
      {
        const WritableSyntax* const syntax = FindWritableSyntax(off.transferSyntax);
        return syntax == nullptr ? off.engine : off.engine + " " + syntax->name;
      }


      // Each once
      static std::string ListEngines(const std::vector<SwitchedOffEngine>& engines)
      {
        std::string names;

        for (std::size_t i = 0; i < engines.size(); i++)
        {
          if (i == 0 || engines[i].engine != engines[i - 1].engine)
          {
            names += (i == 0 ? "" : ", ") + engines[i].engine;
          }
        }

        return names;
      }
    };
  }


  std::unique_ptr<IRule> MakeSwitchedOffEngineRule()
  {
    return std::make_unique<SwitchedOffEngineRule>();
  }
}
