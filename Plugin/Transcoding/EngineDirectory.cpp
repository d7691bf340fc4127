// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/EngineDirectory.h"

#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    EngineVerdict MakeUntested(const ITranscodingEngine& engine)
    {
      EngineVerdict verdict;
      verdict.engine = engine.GetName();
      verdict.reason = "not tested yet";

      for (const WritableSyntax& syntax : GetWritableSyntaxes())
      {
        verdict.syntaxes.push_back({syntax.uid, SyntaxVerdict::State::Untested, ""});
      }

      return verdict;
    }


    EngineVerdict Test(const ITranscodingEngine& engine)
    {
      EngineVerdict verdict = MakeUntested(engine);
      verdict.reason = engine.GetProblem();
      verdict.isAvailable = verdict.reason.empty();

      for (SyntaxVerdict& syntax : verdict.syntaxes)
      {
        syntax.state = engine.CanWrite(syntax.transferSyntax) ? SyntaxVerdict::State::Works
                                                              : SyntaxVerdict::State::Unsupported;
      }

      return verdict;
    }


    bool IsUsable(const EngineVerdict& verdict, const std::string& transferSyntax)
    {
      return verdict.isAvailable &&
             std::any_of(verdict.syntaxes.begin(), verdict.syntaxes.end(),
                         [&transferSyntax](const SyntaxVerdict& syntax) {
                           return syntax.state == SyntaxVerdict::State::Works &&
                                  syntax.transferSyntax == transferSyntax;
                         });
    }
  }


  const char* ToLabel(SyntaxVerdict::State state)
  {
    switch (state)
    {
      case SyntaxVerdict::State::Works:
        return "works";

      case SyntaxVerdict::State::Unsupported:
        return "unsupported";

      case SyntaxVerdict::State::SwitchedOff:
        return "switched off";

      default:
        return "untested";
    }
  }


  EngineDirectory::EngineDirectory(std::vector<InstalledEngine> engines) :
    engines_(std::move(engines))
  {
    for (const InstalledEngine& installed : engines_)
    {
      verdicts_.push_back(MakeUntested(*installed.engine));
    }
  }


  void EngineDirectory::TestAll()
  {
    std::vector<EngineVerdict> verdicts;

    for (const InstalledEngine& installed : engines_)
    {
      verdicts.push_back(Test(*installed.engine));
    }

    const std::lock_guard<std::mutex> lock(mutex_);
    verdicts_ = std::move(verdicts);
  }


  const ITranscodingEngine* EngineDirectory::Find(const std::string& name,
                                                  const std::string& transferSyntax) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    for (std::size_t i = 0; i < engines_.size(); i++)
    {
      if (verdicts_[i].engine == name && IsUsable(verdicts_[i], transferSyntax))
      {
        return engines_[i].engine.get();
      }
    }

    return nullptr;
  }


  std::vector<const ITranscodingEngine*>
  EngineDirectory::FindAll(const std::string& transferSyntax) const
  {
    std::vector<const ITranscodingEngine*> found;
    const std::lock_guard<std::mutex> lock(mutex_);

    for (std::size_t i = 0; i < engines_.size(); i++)
    {
      if (IsUsable(verdicts_[i], transferSyntax))
      {
        found.push_back(engines_[i].engine.get());
      }
    }

    return found;
  }


  std::vector<EngineVerdict> EngineDirectory::GetVerdicts() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return verdicts_;
  }
}
