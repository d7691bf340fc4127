// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/EngineDirectory.h"
#include "Transcoding/Engines/TranscodingEngine.h"

#include <functional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Has engines write small images and decodes what they wrote. The engines are to work in
  // processes of their own: one that crashes must not take Orthanc with it. Any thread may call it,
  // several at once.
  class SelfTest
  {
  public:
    // Those that may decode what an engine wrote, if it can't do so itself. They outlive this.
    // Without any, an engine that cannot decode is trusted: that is "native", which compares what
    // it writes with known bytes (NativeEngine::GetProblem).
    // "now": of the calling thread, to measure speeds with
    using Now = std::function<TimePoint()>;
    explicit SelfTest(std::vector<const ITranscodingEngine*> decoders, Now now = &Clock::now);

    EngineVerdict TestEngine(const ITranscodingEngine& engine) const;

    // The engine works if it writes at least one of the samples, each without loss or with little,
    // and declines the others. Then its speed is measured with a larger one.
    SyntaxVerdict TestSyntax(const ITranscodingEngine& engine,
                             const std::string& transferSyntax) const;

  private:
    struct Sample
    {
      std::string name;
      std::string file;
      std::string sopInstanceUid;
    };

    double MeasureSpeed(const ITranscodingEngine& engine, const std::string& transferSyntax) const;
    std::string FindProblem(const ITranscodingEngine& engine, const Sample& sample,
                            const std::string& transferSyntax, const std::string& file) const;

    std::vector<const ITranscodingEngine*> decoders_;
    std::vector<Sample> samples_;
    const Now now_;
    const std::string large_;  // to measure the speed with
  };
}
