// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/PerfConfiguration.h"
#include "BuildPaths.h"

#include "Tuning/JsonValues.h"
#include "Tuning/TuningSchema.h"

#include <json/reader.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>

using namespace OrthancPerf;

namespace
{
  std::string ReadFile(const std::string& path)
  {
    std::ifstream file(std::string(BuildPaths::GetSourceFolder()) + "/" + path);
    EXPECT_TRUE(file.good()) << path;
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
  }

  // With comments, as Orthanc reads its configuration
  Json::Value ReadSample()
  {
    std::istringstream text(ReadFile("Resources/Configuration/perf.json"));
    Json::Value sample;
    std::string errors;
    EXPECT_TRUE(Json::parseFromStream(Json::CharReaderBuilder(), text, &sample, &errors)) << errors;
    return sample;
  }

  void ExpectDefaults(const PerfConfiguration& configuration)
  {
    EXPECT_TRUE(configuration.warnings.empty());
    EXPECT_EQ(Tuning(), configuration.tuning);

    for (const auto& key : GetPerfKeys())
    {
      EXPECT_EQ(key.write(PerfConfiguration()), key.write(configuration)) << key.name;
    }
  }

  Json::Value MakeSection(const std::string& name, const Json::Value& value)
  {
    Json::Value section(Json::objectValue);
    section[name] = value;
    return section;
  }
}

TEST(PerfConfiguration, TheSectionIsAnObjectAndWhatIsMissingOrNullHasItsDefault)
{
  for (const char* section : {"null", "{}", R"({"Tuning": {}})", R"({"Tuning": null})",
                              R"({"Tuning": {"DicomSockets": null}})"})
  {
    ExpectDefaults(PerfConfiguration::Parse(Parse("[" + std::string(section) + "]")[0]));
  }

  for (const auto& key : GetPerfKeys())
  {
    ExpectDefaults(PerfConfiguration::Parse(MakeSection(key.name, Json::nullValue)));
  }

  for (const char* section : {"[true]", "[1]", "[\"on\"]", "[[]]"})
  {
    EXPECT_EQ("Perf", CatchError([section] { PerfConfiguration::Parse(Parse(section)[0]); }).key);
  }
}

TEST(PerfConfiguration, ReadsEveryKey)
{
  const PerfConfiguration configuration = PerfConfiguration::Parse(
      Parse(R"({"Enable": false, "SocketProbe": false, "RecentInstances": 0, "MaximumPeers": 1.0,
              "AllowTuning": false, "PersistTuning": false,
              "Tuning": {"DicomSockets": {"Preset": "stock", "SendBuffer": "auto"}}})"));
  EXPECT_FALSE(configuration.enabled);
  EXPECT_FALSE(configuration.socketProbe);
  EXPECT_EQ(0u, configuration.recentInstances);
  EXPECT_EQ(1u, configuration.maximumPeers);
  EXPECT_FALSE(configuration.allowTuning);
  EXPECT_FALSE(configuration.persistTuning);
  EXPECT_FALSE(configuration.tuning.dicomSockets.tcpNoDelay);
  EXPECT_EQ(SocketBuffer(), configuration.tuning.dicomSockets.sendBuffer);
  EXPECT_TRUE(configuration.warnings.empty());
}

TEST(PerfConfiguration, NamesTheKeyOfEachWrongValue)
{
  std::vector<Json::Value> wrong = GetValuesThatNoKeyTakes();

  for (const auto& key : GetPerfKeys())
  {
    wrong.emplace_back(key.type == "boolean" ? Json::Value(1) : Json::Value(true));

    for (const Json::Value& value : wrong)
    {
      const SettingError error =
          CatchError([&] { PerfConfiguration::Parse(MakeSection(key.name, value)); });
      EXPECT_EQ("Perf." + key.name, error.key);
      EXPECT_EQ(Describe(value), error.found);
      EXPECT_EQ(key.allowed, error.allowed);
    }

    wrong.pop_back();
  }
}

TEST(PerfConfiguration, SizesAreAcceptedUpToTheirLimits)
{
  for (const auto& [name, range] : {std::make_pair("RecentInstances", RECENT_INSTANCES_RANGE),
                                    std::make_pair("MaximumPeers", MAXIMUM_PEERS_RANGE)})
  {
    for (const std::int64_t value : {range.minimum, range.maximum})
    {
      EXPECT_NO_THROW(PerfConfiguration::Parse(MakeSection(name, Json::Int64(value))));
      EXPECT_NO_THROW(PerfConfiguration::Parse(MakeSection(name, static_cast<double>(value))));
    }

    for (const std::int64_t value : {range.minimum - 1, range.maximum + 1})
    {
      EXPECT_THROW(PerfConfiguration::Parse(MakeSection(name, Json::Int64(value))), SettingError);
    }
  }
}

TEST(PerfConfiguration, NamesTheKeyOfAWrongTuningAndOfAnotherSpellingOfEnable)
{
  const auto explain = [](const char* section)
  {
    return std::string(CatchError([section] { PerfConfiguration::Parse(Parse(section)); }).what());
  };
  EXPECT_EQ("Perf.Tuning.DicomSockets.TcpNoDelay is 1; allowed: true or false",
            explain(R"({"Tuning": {"DicomSockets": {"TcpNoDelay": 1}}})"));
  EXPECT_EQ("Unknown key \"Perf.Enabled\"; its name is \"Enable\", as in Orthanc's other plugins",
            explain(R"({"Enabled": false})"));
}

TEST(PerfConfiguration, WarnsOfUnknownKeysAndOfItsNameInOtherLetters)
{
  using Warnings = std::vector<std::string>;
  EXPECT_EQ(
      (Warnings{"Unknown key \"Perf.RecentInstance\" is ignored",
                "Unknown key \"Perf.TcpNodelay\" is ignored",
                "Unknown key \"Perf.Tuning.DicomSocket\" is ignored"}),
      PerfConfiguration::Parse(
          Parse(R"({"RecentInstance": 5, "TcpNodelay": true, "Tuning": {"DicomSocket": {}}})"))
          .warnings);

  const PerfConfiguration configuration =
      PerfConfiguration::Find(Parse(R"({"perf": {"Enable": false}, "Perf2": {}})"));
  EXPECT_TRUE(configuration.enabled);
  EXPECT_EQ(Warnings{"The section \"perf\" is ignored; its name is \"Perf\""},
            configuration.warnings);
  EXPECT_EQ(7u, PerfConfiguration::Find(Parse(R"({"Perf": {"MaximumPeers": 7}})")).maximumPeers);
}

TEST(PerfConfiguration, TheSampleHasEveryKeyWithItsDefault)
{
  const Json::Value sample = ReadSample();
  ASSERT_EQ(1u, sample.size());
  const Json::Value& section = sample["Perf"];
  const std::string text = ReadFile("Resources/Configuration/perf.json");
  ExpectDefaults(PerfConfiguration::Parse(section));

  for (const auto& key : GetPerfKeys())
  {
    EXPECT_TRUE(section.isMember(key.name)) << key.name;
  }

  for (const TuningKey& key : GetTuningKeys())
  {
    // "Preset" only in a comment: it would be at odds with the keys beside it once they are edited
    EXPECT_TRUE(key.name == PRESET || section["Tuning"][key.section].isMember(key.name))
        << key.GetPath();
    EXPECT_NE(std::string::npos, text.find("\"" + key.name + "\"")) << key.GetPath();
  }
}
