// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/EngineDirectory.h"

#include "Dicom/TransferSyntax.h"
#include "Tuning/Json.h"
#include "Tuning/TuningSchema.h"

#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <future>
#include <set>
#include <tuple>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Null: the engine does not write it
    template <typename Verdict>
    auto* FindSyntax(Verdict& verdict, const std::string& transferSyntax)
    {
      const auto found = std::find_if(verdict.syntaxes.begin(), verdict.syntaxes.end(),
                                      [&transferSyntax](const SyntaxVerdict& syntax)
                                      { return syntax.transferSyntax == transferSyntax; });
      return found == verdict.syntaxes.end() ? nullptr : &*found;
    }

    bool IsUsable(const EngineVerdict& verdict, const std::string& transferSyntax)
    {
      const SyntaxVerdict* const syntax = FindSyntax(verdict, transferSyntax);
      return verdict.isAvailable && syntax != nullptr &&
             syntax->state == SyntaxVerdict::State::Works;
    }
  }

  EngineDirectory::EngineDirectory(Engines engines, Now now) :
    engines_(std::move(engines)),
    now_(std::move(now))
  {
    for (const auto& engine : engines_)
    {
      verdicts_.push_back({engine->GetName(), false, false, "not tested yet", {}});

      for (const TransferSyntax& syntax : GetWritableSyntaxes())
      {
        verdicts_.back().syntaxes.push_back({syntax.uid, SyntaxVerdict::State::Untested, ""});
      }
    }
  }

  void EngineDirectory::TestAll()
  {
    std::vector<std::future<EngineVerdict>> tests;
    std::vector<EngineVerdict> verdicts;
    tests.reserve(engines_.size());
    verdicts.reserve(engines_.size());

    for (const auto& engine : engines_)
    {
      tests.push_back(std::async(std::launch::async, [&] { return TestEngine(*engine, now_); }));
    }

    for (std::future<EngineVerdict>& result : tests)
    {
      verdicts.push_back(result.get());
    }

    const std::lock_guard<std::mutex> lock(mutex_);
    verdicts_ = std::move(verdicts);
  }

  void EngineDirectory::Stop() noexcept
  {
    for (const auto& engine : engines_)
    {
      engine->Stop();
    }
  }

  void EngineDirectory::Tidy(TimePoint hanging) noexcept
  {
    for (const auto& engine : engines_)
    {
      engine->Tidy(hanging);
    }
  }

  const ITranscodingEngine* EngineDirectory::Find(const std::string& name,
                                                  const std::string& transferSyntax) const
  {
    for (const ITranscodingEngine* const engine : FindAll(transferSyntax))
    {
      if (name == engine->GetName())
      {
        return engine;
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
        found.push_back(engines_[i].get());
      }
    }

    return found;
  }

  std::vector<const ITranscodingEngine*>
  EngineDirectory::ListForAuto(const std::string& transferSyntax, TimePoint now) const
  {
    // In the order of this sorting: whether it failed lately, how slow it is, its place
    std::vector<std::tuple<bool, double, std::size_t>> ranked;
    std::vector<const ITranscodingEngine*> engines;
    const std::lock_guard<std::mutex> lock(mutex_);

    for (std::size_t i = 0; i < engines_.size(); i++)
    {
      if (IsUsable(verdicts_[i], transferSyntax))
      {
        const SyntaxVerdict& verdict = *FindSyntax(verdicts_[i], transferSyntax);
        ranked.emplace_back(verdict.lastUntil > now, -verdict.bytesPerSecond, i);
      }
    }

    std::sort(ranked.begin(), ranked.end());
    engines.reserve(ranked.size());

    for (const auto& [isLast, slowness, place] : ranked)
    {
      engines.push_back(engines_[place].get());
    }

    return engines;
  }

  void EngineDirectory::PutLast(const std::string& name, const std::string& transferSyntax,
                                TimePoint now)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    for (EngineVerdict& verdict : verdicts_)
    {
      SyntaxVerdict* const syntax = FindSyntax(verdict, transferSyntax);

      if (verdict.engine == name && syntax != nullptr)
      {
        syntax->lastUntil = now + PENALTY;
      }
    }
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

      const SyntaxVerdict* const syntax = FindSyntax(verdict, transferSyntax);

      if (verdict.engine == name && syntax != nullptr)
      {
        return syntax->state == SyntaxVerdict::State::SwitchedOff
                   ? "switched off by its self-test: " + syntax->reason
                   : "does not write this transfer syntax";
      }
    }

    return "there is no such engine";
  }

  void EngineDirectory::Check(const IngestTranscoding& settings) const
  {
    const std::string path = std::string(INGEST_TRANSCODING) + ".";
    const std::string name = ToLabel(settings.engine);
    const std::string& target = settings.transferSyntax;
    const bool isAny = settings.engine == EngineChoice::Automatic;
    bool isAvailable = isAny;
    std::string available = "\"auto\"";
    std::string problems;
    std::set<std::string> written;  // names

    for (const EngineVerdict& verdict : GetVerdicts())
    {
      available += verdict.isAvailable ? ", \"" + verdict.engine + "\"" : "";

      if (isAny || verdict.engine == name)
      {
        isAvailable = isAvailable || verdict.isAvailable;
        const SyntaxVerdict* const syntax = FindSyntax(verdict, target);

        if (!verdict.isAvailable ||
            (syntax != nullptr && syntax->state == SyntaxVerdict::State::SwitchedOff))
        {
          problems += "; \"" + verdict.engine + "\": " + Explain(verdict.engine, target);
        }

        for (const SyntaxVerdict& usable : verdict.syntaxes)
        {
          if (IsUsable(verdict, usable.transferSyntax))
          {
            written.insert(GetSyntaxName(usable.transferSyntax));
          }
        }
      }
    }

    if (!isAvailable)
    {
      throw SettingError::ForValue(path + "Engine", name, available + problems);
    }

    if (!target.empty() && written.count(GetSyntaxName(target)) == 0)
    {
      const std::string names = boost::algorithm::join(written, ", ");
      throw SettingError::ForValue(
          path + "TransferSyntax", GetSyntaxName(target),
          "\"\" or what " + (isAny ? "the engines write" : "the engine \"" + name + "\" writes") +
              " here: " + (names.empty() ? "nothing" : names) + problems);
    }
  }

  std::vector<EngineVerdict> EngineDirectory::GetVerdicts() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return verdicts_;
  }
}
