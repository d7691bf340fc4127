// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineDirectory.h"

#include "Transcoding/Engines/SelfTest.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <future>
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


    // What stands for an engine in the self-test, and why it can't
    struct Candidate
    {
      const ITranscodingEngine* engine;
      std::string problem;
    };


    Candidate FindTested(const InstalledEngine& installed)
    {
      if (installed.children.empty())
      {
        return {installed.engine.get(), installed.engine->GetProblem()};
      }

      std::string problems = installed.need;
      const char* separator = installed.need.empty() ? "" : ": ";

      for (const auto& child : installed.children)
      {
        const std::string problem = child->GetProblem();

        if (problem.empty())
        {
          return {child.get(), ""};
        }

        problems += separator + problem;
        separator = "; ";
      }

      return {installed.children.front().get(), problems};
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
      all_.push_back(installed.engine.get());

      for (const auto& child : installed.children)
      {
        all_.push_back(child.get());
      }
    }
  }


  void EngineDirectory::TestAll()
  {
    std::vector<Candidate> tested;
    std::vector<const ITranscodingEngine*> decoders;

    for (const InstalledEngine& installed : engines_)
    {
      tested.push_back(FindTested(installed));

      if (tested.back().problem.empty() &&
          tested.back().engine->CanWrite(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN))
      {
        decoders.push_back(tested.back().engine);
      }
    }

    const SelfTest test(decoders);
    std::vector<std::future<EngineVerdict>> tests;
    tests.reserve(tested.size());

    for (const Candidate& candidate : tested)
    {
      tests.push_back(
          std::async(std::launch::async,
                     [&] { return test.TestEngine(*candidate.engine, candidate.problem); }));
    }

    std::vector<EngineVerdict> verdicts;
    verdicts.reserve(tests.size());

    for (std::future<EngineVerdict>& result : tests)
    {
      verdicts.push_back(result.get());
    }

    const std::lock_guard<std::mutex> lock(mutex_);
    verdicts_ = std::move(verdicts);
  }


  void EngineDirectory::Stop() noexcept
  {
    for (ITranscodingEngine* const engine : all_)
    {
      engine->Stop();
    }
  }


  void EngineDirectory::Tidy() noexcept
  {
    for (ITranscodingEngine* const engine : all_)
    {
      engine->Tidy();
    }
  }


  const ITranscodingEngine* EngineDirectory::Find(const std::string& name,
                                                  const std::string& transferSyntax) const
  {
    const auto engines = FindAll(transferSyntax);
    const auto found = std::find_if(engines.begin(), engines.end(),
                                    [&name](const ITranscodingEngine* engine)
                                    { return name == engine->GetName(); });
    return found == engines.end() ? nullptr : *found;
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


  std::string EngineDirectory::Explain(const std::string& name,
                                       const std::string& transferSyntax) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    for (const EngineVerdict& verdict : verdicts_)
    {
      if (verdict.engine == name && !verdict.isAvailable)
      {
        return "not available: " + verdict.reason;
      }

      for (const SyntaxVerdict& syntax : verdict.syntaxes)
      {
        if (verdict.engine == name && syntax.transferSyntax == transferSyntax)
        {
          return syntax.state == SyntaxVerdict::State::SwitchedOff
                     ? "switched off by its self-test: " + syntax.reason
                     : "does not write this transfer syntax";
        }
      }
    }

    return "there is no such engine";
  }


  std::vector<EngineVerdict> EngineDirectory::GetVerdicts() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return verdicts_;
  }
}
