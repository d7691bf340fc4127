// SPDX-License-Identifier: GPL-3.0-or-later
// TranscodeFiles ENGINE TARGET-UID OUTPUT-FOLDER FILE...: each file with that engine, under its own
// name into the folder, and a line that says what became of it: name, outcome, reason, with tabs
// between them.
//
// TranscodeFiles --ingest ENGINE VERIFY OUTPUT-FOLDER: the same as instances on their way into the
// store, with all that the plugin does about them. ENGINE may be "auto", VERIFY is 0 or 1. The
// lines of the standard input are TARGET-UID, a tab, and the path of a file.
#include "Redirection/ModuleFolder.h"
#include "Transcoding/EngineFactory.h"
#include "Transcoding/Transcoder.h"

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <stdexcept>
#include <vector>

namespace
{
  using namespace OrthancPerf;

  // Of those beside this program
  const ITranscodingEngine& FindEngine(const std::vector<InstalledEngine>& engines,
                                       const std::string& name)
  {
    for (const InstalledEngine& installed : engines)
    {
      if (installed.engine->GetName() == name)
      {
        return *installed.engine;
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
    const EngineResult result = engine.Transcode(content.data(), content.size(), target);

    if (result.outcome == TranscodingOutcome::Transcoded)
    {
      WriteFile(folder / source.filename(), result.file);
    }

    std::cout << source.filename().string() << '\t' << ToLabel(result.outcome) << '\t'
              << result.reason << std::endl;
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
      const Transcoding result = transcoder.TranscodeIncoming(content.data(), content.size());

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
                 "TranscodeFiles --ingest ENGINE VERIFY OUTPUT-FOLDER"
              << std::endl;
    return 2;
  }

  try
  {
    if (std::string(argv[1]) == "--ingest")
    {
      return TranscodeIncoming(argv[2], std::string(argv[3]) == "1", argv[4]);
    }

    const std::vector<InstalledEngine> engines = MakeEngines(GetModuleFolder());
    const ITranscodingEngine& engine = FindEngine(engines, argv[1]);
    TranscodingTarget target;
    target.transferSyntax = argv[2];

    for (int i = 4; i < argc; i++)
    {
      TranscodeFile(engine, target, argv[i], argv[3]);
    }

    return 0;
  }
  catch (const std::exception& error)
  {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
