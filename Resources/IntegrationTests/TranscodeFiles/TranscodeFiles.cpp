// SPDX-License-Identifier: GPL-3.0-or-later
// TranscodeFiles ENGINE TARGET-UID OUTPUT-FOLDER FILE...: each file with that engine, under its own
// name into the folder, and a line that says what became of it: name, outcome, reason, with tabs
// between them.
//
// TranscodeFiles --ingest ENGINE VERIFY OUTPUT-FOLDER: the same as instances on their way into the
// store, with all that the plugin does about them. ENGINE may be "auto", VERIFY is 0 or 1. The
// lines of the standard input are TARGET-UID, a tab, and the path of a file.
//
// TranscodeFiles --time MILLISECONDS ENGINE TARGET-UID FILE...: each file again and again for so
// long, from memory to memory, and a line: name, outcome, reason, size, size of the result, and the
// processor time of one go in seconds, of this program and of the engine's process. For 0
// milliseconds, each is transcoded once, and no time is told.
#include "Redirection/ModuleFolder.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/Transcoder.h"

#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include <unistd.h>

namespace
{
  using namespace OrthancPerf;

  // Of those beside this program
  const ITranscodingEngine& FindEngine(const Engines& engines, const std::string& name)
  {
    for (const auto& engine : engines)
    {
      if (engine->GetName() == name)
      {
        return *engine;
      }
    }

    throw std::invalid_argument("There is no engine named " + name);
  }

  std::string ReadFile(const std::filesystem::path& path)
  {
    std::ifstream file(path, std::ios::binary);

    if (!file)
    {
      throw std::runtime_error("Cannot read " + path.string());
    }

    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  void WriteFile(const std::filesystem::path& path, const std::string& content)
  {
    std::ofstream file(path, std::ios::binary);
    file.write(content.data(), static_cast<std::streamsize>(content.size()));
    file.close();

    if (!file)
    {
      throw std::runtime_error("Cannot write " + path.string());
    }
  }

  void TranscodeFile(const ITranscodingEngine& engine, const TranscodingTarget& target,
                     const std::filesystem::path& source, const std::filesystem::path& folder)
  {
    const std::string content = ReadFile(source);
    const ImageDescription image = DescribeImage(content.data(), content.size());
    const EngineResult result = AskEngine(engine, image, content, target);

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      WriteFile(folder / source.filename(), result.file);
    }

    std::cout << source.filename().string() << '\t' << ToLabel(result.outcome) << '\t'
              << result.reason << std::endl;
  }

  // So far, of this process and its children: the clocks of clock_getcpuclockid(3)
  double GetProcessorTime()
  {
    const pid_t self = getpid();
    std::ifstream children("/proc/self/task/" + std::to_string(self) + "/children");
    double seconds = 0;

    for (pid_t process = self; process != 0;)
    {
      clockid_t clock = 0;
      timespec now = {};

      if (clock_getcpuclockid(process, &clock) == 0 && clock_gettime(clock, &now) == 0)
      {
        seconds += static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
      }

      if (!(children >> process))
      {
        process = 0;
      }
    }

    return seconds;
  }

  void TimeFile(const ITranscodingEngine& engine, const TranscodingTarget& target,
                const std::filesystem::path& source, double seconds)
  {
    constexpr unsigned int MINIMUM_COUNT = 3;
    const std::string content = ReadFile(source);
    // The first time starts the engine's process, and is no measure
    EngineResult result =
        AskEngine(engine, DescribeImage(content.data(), content.size()), content, target);
    double sum = 0;
    unsigned int count = 0;

    while (result.outcome == TranscodingOutcome::Transcoded && seconds > 0 &&
           (sum < seconds || count < MINIMUM_COUNT))
    {
      const double begin = GetProcessorTime();
      result = engine.Transcode(content.data(), content.size(), target);
      sum += GetProcessorTime() - begin;
      count++;
    }

    std::cout << source.filename().string() << '\t' << ToLabel(result.outcome) << '\t'
              << result.reason << '\t' << content.size() << '\t' << result.file.size() << '\t'
              << (count == 0 ? 0 : sum / count) << std::endl;
  }

  int TranscodeIncoming(const std::string& engineName, bool verify,
                        const std::filesystem::path& folder)
  {
    EngineDirectory engines(MakeEngines(GetModuleFolder()));
    engines.TestAll();
    Transcoder transcoder(engines, nullptr);
    IngestTranscoding settings;
    settings.engine = ParseEngineChoice(engineName).value();
    settings.verify = verify;
    settings.ofCompressed = true;
    std::string line;

    while (std::getline(std::cin, line))
    {
      const std::size_t tab = line.find('\t');
      const std::filesystem::path source = line.substr(tab + 1);
      const std::string content = ReadFile(source);
      settings.transferSyntax = line.substr(0, tab);
      transcoder.SetSettings(settings);
      const Transcoding result = transcoder.TranscodeIncoming(ReceivedFile(content));

      if (!result.file.empty())
      {
        WriteFile(folder / source.filename(), result.file);
      }

      std::cout << source.filename().string() << '\t' << ToLabel(result.report.outcome) << '\t'
                << result.report.reason << std::endl;
    }

    return 0;
  }
}

int main(int argc, char** argv)
{
  if (argc < 5)
  {
    std::cerr << "TranscodeFiles ENGINE TARGET-UID OUTPUT-FOLDER FILE...\n"
                 "TranscodeFiles --ingest ENGINE VERIFY OUTPUT-FOLDER\n"
                 "TranscodeFiles --time MILLISECONDS ENGINE TARGET-UID FILE..."
              << std::endl;
    return 2;
  }

  try
  {
    if (std::string(argv[1]) == "--ingest")
    {
      return TranscodeIncoming(argv[2], std::string(argv[3]) == "1", argv[4]);
    }

    const bool isTimed = std::string(argv[1]) == "--time";
    const int first = isTimed ? 3 : 1;
    const Engines engines = MakeEngines(GetModuleFolder());
    const ITranscodingEngine& engine = FindEngine(engines, argv[first]);
    TranscodingTarget target;
    target.transferSyntax = argv[first + 1];

    for (int i = isTimed ? 5 : 4; i < argc; i++)
    {
      if (isTimed)
      {
        TimeFile(engine, target, argv[i], std::stod(argv[2]) / 1000);
      }
      else
      {
        TranscodeFile(engine, target, argv[i], argv[3]);
      }
    }

    return 0;
  }
  catch (const std::exception& error)
  {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
