// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningReader.h"

#include "Dicom/TransferSyntax.h"
#include "Tuning/JsonValues.h"
#include "Tuning/TuningSchema.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace OrthancPerf;

namespace
{
  Json::Value MakeDocument(const TuningKey& key, const Json::Value& value)
  {
    Json::Value document(Json::objectValue);
    document[key.section][key.name] = value;
    return document;
  }

  Tuning Apply(const std::string& patch)
  {
    return ApplyTuning(Tuning(), ReadTuningPatch(Parse(patch)));
  }
}

TEST(TuningReader, ReadsEveryKey)
{
  const Tuning tuning = Apply(R"({"DicomSockets": {"TcpNoDelay": false, "TcpQuickAck": false,
                                    "ReceiveBuffer": 65536, "SendBuffer": "default",
                                    "KeepAliveSeconds": 10, "UserTimeoutSeconds": 30,
                                    "CongestionControl": "bbr"},
                                  "IngestTranscoding": {"TransferSyntax": "JPEGProcess14SV1",
                                    "Engine": "native", "Verify": true, "LossyQuality": 1,
                                    "OfCompressed": true, "OrthancTranscoding": true}})");
  EXPECT_FALSE(tuning.dicomSockets.tcpNoDelay);
  EXPECT_FALSE(tuning.dicomSockets.tcpQuickAck);
  EXPECT_EQ(SocketBuffer::MakeFixed(65536), tuning.dicomSockets.receiveBuffer);
  EXPECT_EQ((SocketBuffer{SocketBuffer::Mode::Default}), tuning.dicomSockets.sendBuffer);
  EXPECT_EQ(10, tuning.dicomSockets.keepAlive.count());
  EXPECT_EQ(30, tuning.dicomSockets.userTimeout.count());
  EXPECT_EQ("bbr", tuning.dicomSockets.congestionControl);
  EXPECT_EQ("1.2.840.10008.1.2.4.70", tuning.ingestTranscoding.transferSyntax);
  EXPECT_EQ(EngineChoice::Native, tuning.ingestTranscoding.engine);
  EXPECT_TRUE(tuning.ingestTranscoding.verify);
  EXPECT_EQ(1u, tuning.ingestTranscoding.lossyQuality);
  EXPECT_TRUE(tuning.ingestTranscoding.ofCompressed);
  EXPECT_TRUE(tuning.ingestTranscoding.orthancTranscoding);
}

TEST(TuningReader, GivesValuesTheirCanonicalFormWhichCanBeReadBack)
{
  EXPECT_EQ(Parse(R"({"DicomSockets": {"KeepAliveSeconds": 20},
                      "IngestTranscoding": {"TransferSyntax": "1.2.840.10008.1.2.5"}})"),
            ReadTuningPatch(Parse(R"({"DicomSockets": {"KeepAliveSeconds": 2e1},
                                      "IngestTranscoding": {"TransferSyntax": "RLELossless"}})")));
  EXPECT_EQ(Tuning(), Apply("{}"));
  EXPECT_EQ(Tuning(), Apply(R"({"DicomSockets": {}, "IngestTranscoding": {}})"));

  for (const char* patch : {"{}", R"({"DicomSockets": {"Preset": "stock"}})",
                            R"({"DicomSockets": {"ReceiveBuffer": 4096}})",
                            R"({"IngestTranscoding": {"TransferSyntax": "JPEG2000"}})"})
  {
    const Tuning tuning = Apply(patch);
    EXPECT_EQ(tuning, ApplyTuning(Tuning(), ReadTuningPatch(ToJson(tuning)))) << patch;
    EXPECT_EQ(tuning, ApplyTuning(tuning, ReadTuningPatch(ToJson(tuning)))) << patch;
  }
}

TEST(TuningReader, APresetSetsAllOfItsSectionButForTheKeysBesideIt)
{
  const Tuning stock = Apply(R"({"DicomSockets": {"Preset": "stock"}})");
  EXPECT_EQ(GetPresetValues(SocketPreset::Stock), stock.dicomSockets);
  EXPECT_EQ("stock", ToJson(stock)["DicomSockets"]["Preset"].asString());
  EXPECT_EQ(Tuning(),
            ApplyTuning(stock, ReadTuningPatch(Parse(R"({"DicomSockets":{"Preset":"tuned"}})"))));

  const Tuning tuning = Apply(R"({"DicomSockets": {"Preset": "stock", "TcpNoDelay": true}})");
  EXPECT_TRUE(tuning.dicomSockets.tcpNoDelay);
  EXPECT_FALSE(tuning.dicomSockets.tcpQuickAck);
  EXPECT_EQ("custom", ToJson(tuning)["DicomSockets"]["Preset"].asString());
  EXPECT_EQ(Parse(R"({"DicomSockets": {}})"),
            ReadTuningPatch(Parse(R"({"DicomSockets": {"Preset": "custom"}})")));

  const Json::Value patch =
      ReadTuningPatch(Parse(R"({"DicomSockets": {"Preset": null, "SendBuffer": 8192}})"));
  EXPECT_EQ(7u, patch["DicomSockets"].size());
  EXPECT_TRUE(patch["DicomSockets"]["TcpNoDelay"].isNull());
  EXPECT_EQ(8192, patch["DicomSockets"]["SendBuffer"].asInt());
}

TEST(TuningReader, NamesTheKeyOfEachWrongValue)
{
  for (const TuningKey& key : GetTuningKeys())
  {
    for (const Json::Value& value : GetValuesThatNoKeyTakes())
    {
      const Json::Value document = MakeDocument(key, value);
      const SettingError error = CatchError([&document] { ReadTuningPatch(document); });
      EXPECT_EQ(key.GetPath(), error.key);
      EXPECT_EQ(Describe(value), error.found);
      EXPECT_EQ(key.allowed, error.allowed);

      std::vector<std::string> warnings;
      const SettingError inConfiguration =
          CatchError([&] { ReadTuningConfiguration(document, "Perf.Tuning", warnings); });
      EXPECT_EQ("Perf.Tuning." + key.GetPath(), inConfiguration.key);
    }
  }
}

TEST(TuningReader, NullIsKeptInAPatchAndAsGoodAsNothingInTheConfiguration)
{
  for (const TuningKey& key : GetTuningKeys())
  {
    const Json::Value document = MakeDocument(key, Json::nullValue);
    std::vector<std::string> warnings;
    EXPECT_NO_THROW(ReadTuningPatch(document));
    const Json::Value read = ReadTuningConfiguration(document, "Perf.Tuning", warnings);
    EXPECT_TRUE(read[key.section].empty());
    EXPECT_EQ(Tuning(), ApplyTuning(Tuning(), read));
    EXPECT_TRUE(warnings.empty());
  }

  std::vector<std::string> warnings;
  const Json::Value section = Parse(R"({"DicomSockets": null})");
  EXPECT_TRUE(ReadTuningConfiguration(section, "Perf.Tuning", warnings)["DicomSockets"].empty());
  EXPECT_EQ(ReadTuningPatch(Parse(R"({"DicomSockets": {"Preset": null}})")),
            ReadTuningPatch(section));

  const Json::Value patch = ReadTuningPatch(Parse(R"({"IngestTranscoding": null})"));
  EXPECT_EQ(ToJson(Tuning())["IngestTranscoding"].size(), patch["IngestTranscoding"].size());
  EXPECT_TRUE(patch["IngestTranscoding"].isMember("Verify"));
}

TEST(TuningReader, SectionsAndDocumentAreObjects)
{
  for (const char* section : {"true", "1", "\"stock\"", "[]", "[{}]"})
  {
    const Json::Value document = Parse(R"({"DicomSockets": )" + std::string(section) + "}");
    EXPECT_EQ("DicomSockets", CatchError([&] { ReadTuningPatch(document); }).key);
    EXPECT_EQ("", CatchError([&] { ReadTuningPatch(document["DicomSockets"]); }).key);
  }

  EXPECT_THROW(ReadTuningPatch(Json::nullValue), SettingError);
}

TEST(TuningReader, AnUnknownKeyIsAnErrorInAPatchAndAWarningInTheConfiguration)
{
  const SettingError error =
      CatchError([] { ReadTuningPatch(Parse(R"({"DicomSockets": {"TcpNoDelai": true}})")); });
  EXPECT_EQ("DicomSockets.TcpNoDelai", error.key);
  EXPECT_STREQ("Unknown key \"DicomSockets.TcpNoDelai\"", error.what());
  EXPECT_EQ("true", error.found);
  EXPECT_NE(std::string::npos, error.allowed.find("IngestTranscoding.LossyQuality"));

  for (const std::string wrapper : {"Perf", "Tuning"})  // of the configuration
  {
    const Json::Value patch = Parse("{\"" + wrapper + R"(": {"DicomSockets": {}}})");
    const SettingError wrapped = CatchError([&patch] { ReadTuningPatch(patch); });
    EXPECT_EQ("Leave out \"" + wrapper + "\": a change begins with its sections",
              std::string(wrapped.what()));
    EXPECT_EQ("DicomSockets, IngestTranscoding, Memory, Answers, Storage", wrapped.allowed);
  }

  std::vector<std::string> warnings;
  const Json::Value document =
      Parse(R"({"DicomSocket": {}, "DicomSockets": {"SendBufer": 1, "TcpNoDelay": false}})");
  EXPECT_EQ(Parse(R"({"DicomSockets": {"TcpNoDelay": false}})"),
            ReadTuningConfiguration(document, "Perf.Tuning", warnings));
  ASSERT_EQ(2u, warnings.size());
  EXPECT_EQ("Unknown key \"Perf.Tuning.DicomSocket\" is ignored", warnings[0]);
  EXPECT_EQ("Unknown key \"Perf.Tuning.DicomSockets.SendBufer\" is ignored", warnings[1]);
}

TEST(TuningReader, HostileKeysAreShownShortAndPrintable)
{
  Json::Value document(Json::objectValue);
  document[std::string(100000, '<') + "\n\x1b[31m"] = 1;
  document[std::string("DicomSockets\0", 13)] = Json::Value(Json::objectValue);
  const SettingError error = CatchError([&] { ReadTuningPatch(document); });
  EXPECT_LT(std::string(error.what()).size(), 400u);

  std::vector<std::string> warnings;
  EXPECT_EQ(Json::Value(Json::objectValue), ReadTuningConfiguration(document, "P", warnings));
  ASSERT_EQ(2u, warnings.size());

  for (const std::string& warning : warnings)
  {
    EXPECT_TRUE(
        std::all_of(warning.begin(), warning.end(), [](char c) { return c >= 0x20 && c <= 0x7e; }));
  }
}

TEST(TuningDocument, DefaultsAreTheTunedPresetStockTouchesNothingAndOtherValuesAreCustom)
{
  DicomSockets sockets;
  EXPECT_EQ(sockets, GetPresetValues(SocketPreset::Tuned));
  EXPECT_EQ(SocketPreset::Tuned, FindPreset(Tuning().dicomSockets));
  sockets.userTimeout = std::chrono::seconds(1);
  EXPECT_EQ(SocketPreset::Custom, FindPreset(sockets));
  EXPECT_FALSE(GetPresetValues(SocketPreset::Custom).has_value());

  const DicomSockets stock = GetPresetValues(SocketPreset::Stock).value();
  EXPECT_FALSE(stock.tcpNoDelay);
  EXPECT_FALSE(stock.tcpQuickAck);
  EXPECT_EQ((SocketBuffer{SocketBuffer::Mode::Default}), stock.receiveBuffer);
  EXPECT_EQ((SocketBuffer{SocketBuffer::Mode::Default}), stock.sendBuffer);
  EXPECT_EQ(0, stock.keepAlive.count());
  EXPECT_EQ(0, stock.userTimeout.count());
  EXPECT_EQ("", stock.congestionControl);
}

TEST(TuningFigures, AreNumbersForSwitchesBuffersAndChoices)
{
  Tuning tuning;
  tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(65536);
  tuning.dicomSockets.sendBuffer = SocketBuffer{SocketBuffer::Mode::Default};
  tuning.dicomSockets.tcpQuickAck = false;
  tuning.ingestTranscoding.engine = EngineChoice::Gdcm;
  const std::map<std::string, double> figures = ToFigures(tuning);

  for (const auto& [name, figure] :
       {std::pair("DicomSockets.TcpNoDelay", 1), std::pair("DicomSockets.TcpQuickAck", 0),
        std::pair("DicomSockets.ReceiveBuffer", 65536), std::pair("DicomSockets.SendBuffer", -1),
        std::pair("DicomSockets.KeepAliveSeconds", 60), std::pair("DicomSockets.Preset", 2),
        std::pair("IngestTranscoding.Engine", 2), std::pair("IngestTranscoding.TransferSyntax", 0),
        std::pair("IngestTranscoding.LossyQuality", 90)})
  {
    EXPECT_EQ(figure, figures.at(name)) << name;
  }

  tuning.ingestTranscoding.transferSyntax = TransferSyntaxUid::JPEG_LOSSLESS;
  EXPECT_EQ(1, ToFigures(tuning).at("IngestTranscoding.TransferSyntax"));
  tuning.ingestTranscoding.transferSyntax = TransferSyntaxUid::JPEG_BASELINE;
  EXPECT_EQ(2, ToFigures(tuning).at("IngestTranscoding.TransferSyntax"));
}

TEST(TuningSources, EachValueButThePresetHasTheSourceThatCountsMost)
{
  const Json::Value configured =
      Parse(R"({"DicomSockets": {"KeepAliveSeconds": 30, "TcpNoDelay": true}})");
  const Json::Value overrides = Parse(R"({"DicomSockets": {"KeepAliveSeconds": 90}})");
  const Json::Value sources = DescribeSources(configured, overrides);
  const Json::Value& sockets = sources["DicomSockets"];
  EXPECT_EQ(Parse(R"({"Value": 90, "Source": "REST", "Configured": 30})"),
            sockets["KeepAliveSeconds"]);
  EXPECT_EQ(Parse(R"({"Value": true, "Source": "Configuration"})"), sockets["TcpNoDelay"]);
  EXPECT_EQ(Parse(R"({"Value": true, "Source": "Default"})"), sockets["TcpQuickAck"]);

  for (const TuningKey& key : GetTuningKeys())
  {
    EXPECT_EQ(key.name != PRESET, sources[key.section].isMember(key.name)) << key.GetPath();
  }
}
