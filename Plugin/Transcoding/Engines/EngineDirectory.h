// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"
#include "Tuning/TuningDocument.h"

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What the self-test found of one engine and one transfer syntax
  struct SyntaxVerdict
  {
    enum class State
    {
      Untested,
      Works,
      Unsupported,  // the engine does not write it
      SwitchedOff   // crashed, hung, or gave wrong pixels
    };

    std::string transferSyntax;  // UID
    State state = State::Untested;
    std::string reason;  // of SwitchedOff, for the log and /perf/status

    // Of the source, in the self-test; zero: not measured
    double bytesPerSecond = 0;

    // The engine failed here not long ago: until then "auto" tries it last
    TimePoint lastUntil = {};
  };

  template <>
  inline constexpr std::array LABELS<SyntaxVerdict::State> = {"untested", "works", "unsupported",
                                                              "switched off"};

  struct EngineVerdict
  {
    std::string engine;
    bool isTested = false;  // the self-test is over
    bool isAvailable = false;
    std::string reason;                   // why it is not available
    std::vector<SyntaxVerdict> syntaxes;  // one for each of GetWritableSyntaxes()
  };

  using Engines = std::vector<std::unique_ptr<ITranscodingEngine>>;

  // The engines there are, and what each proved to be able to do when Orthanc started. Owned by the
  // plugin's context; any thread may call it. "auto" is an order of these engines:
  //
  //   for (const ITranscodingEngine* const engine : directory.ListForAuto(target, now))
  //     // try it; where it fails: directory.PutLast(engine->GetName(), target, now)
  class EngineDirectory
  {
  public:
    // An engine that failed comes last for so long
    static constexpr Duration PENALTY = std::chrono::minutes(10);

    // "now": of the calling thread, to measure speeds with
    using Now = std::function<TimePoint()>;
    explicit EngineDirectory(Engines engines, Now now = &Clock::now);

    // Each engine writes each syntax (TestEngine), all engines at the same time. An engine is
    // usable once its verdict is there: to be called before instances come.
    void TestAll();

    // The engine of that name, if it is available and its self-test let it have this syntax;
    // else nullptr
    const ITranscodingEngine* Find(const std::string& name,
                                   const std::string& transferSyntax) const;

    // All that Find would give for this syntax, in the order of the directory
    std::vector<const ITranscodingEngine*> FindAll(const std::string& transferSyntax) const;

    // The same, the fastest in the self-test first; those that failed at it lately come last
    std::vector<const ITranscodingEngine*> ListForAuto(const std::string& transferSyntax,
                                                       TimePoint now) const;

    // The engine failed (crash, time-out, wrong pixels) at writing this syntax
    void PutLast(const std::string& name, const std::string& transferSyntax, TimePoint now);

    // Why Find gives nothing, in words
    std::string Explain(const std::string& name, const std::string& transferSyntax) const;

    // Whether the engines can do what the settings ask for, as far as that does not depend on the
    // images. Throws SettingError: an engine that is not available, or a transfer syntax that it
    // does not write, or that its self-test switched off. Call when the engines have been tested.
    void Check(const IngestTranscoding& settings) const;

    std::vector<EngineVerdict> GetVerdicts() const;

    // As ITranscodingEngine's, of all engines
    void Stop() noexcept;
    void Tidy(TimePoint hanging) noexcept;

  private:
    const Engines engines_;
    const Now now_;
    mutable std::mutex mutex_;
    std::vector<EngineVerdict> verdicts_;  // in the order of "engines_"
  };

  // The self-test. The engine writes small images in each of GetWritableSyntaxes(), and decodes
  // what it wrote. One that does not decode is trusted: that is "native", which compares what it
  // writes with known bytes (NativeEngine::GetProblem). "now": of the calling thread, to measure
  // speeds with. Any thread may call these.
  EngineVerdict TestEngine(const ITranscodingEngine& engine, const EngineDirectory::Now& now);

  // The engine works if it writes at least one of the samples, each without loss or with little,
  // and declines the others. Then its speed is measured with a larger one.
  SyntaxVerdict TestSyntax(const ITranscodingEngine& engine, const std::string& transferSyntax,
                           const EngineDirectory::Now& now);
}
