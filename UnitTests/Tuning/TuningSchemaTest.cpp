// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningSchema.h"

#include "Admission/AdmissionQueue.h"
#include "Dicom/TransferSyntax.h"
#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

#include <set>

using namespace OrthancPerf;

namespace
{
  bool Accepts(const std::string& section, const std::string& name, const Json::Value& value)
  {
    Tuning tuning;
    return FindTuningKey(section, name)->read(value, tuning);
  }
}

TEST(TuningSchema, HasEveryKeyOnce)
{
  std::set<std::string> paths;

  for (const TuningKey& key : GetTuningKeys())
  {
    EXPECT_TRUE(paths.insert(key.GetPath()).second) << key.GetPath();
    EXPECT_EQ(&key, FindTuningKey(key.section, key.name));
    EXPECT_FALSE(key.allowed.empty());
  }

  EXPECT_EQ(20u, paths.size());
  EXPECT_EQ(nullptr, FindTuningKey(DICOM_SOCKETS, "Engine"));
}

TEST(TuningSchema, WhatIsWrittenCanBeReadAndWrongValuesChangeNothing)
{
  for (const TuningKey& key : GetTuningKeys())
  {
    SCOPED_TRACE(key.GetPath());
    Tuning tuning;
    EXPECT_TRUE(key.read(key.write(Tuning()), tuning));
    EXPECT_FALSE(key.read(Json::nullValue, tuning));

    for (const Json::Value& value : GetValuesThatNoKeyTakes())
    {
      EXPECT_FALSE(key.read(value, tuning)) << Describe(value);
    }

    EXPECT_EQ(Tuning(), tuning);
    const bool isBoolean = key.write(Tuning()).isBool();
    EXPECT_EQ(isBoolean, Accepts(key.section, key.name, true));
    EXPECT_EQ(isBoolean, Accepts(key.section, key.name, false));

    for (const Json::Value& value : {Json::Value(0), Json::Value(1), Json::Value("true")})
    {
      EXPECT_FALSE(isBoolean && Accepts(key.section, key.name, value));
    }
  }
}

// A change of one key alone is put in force only if the documents differ
TEST(TuningSchema, EveryDifferenceCounts)
{
  for (const TuningKey& key : GetTuningKeys())
  {
    bool isChanged = false;

    for (const Json::Value& value :
         std::vector<Json::Value>{true, false, 5, 50, 65536, "bbr", "auto", "native", "25%",
                                  "stock", "1.2.840.10008.1.2.4.70"})
    {
      Tuning tuning;

      if (key.read(value, tuning) && key.write(tuning) != key.write(Tuning()))
      {
        isChanged = true;
        EXPECT_FALSE(Tuning() == tuning) << key.GetPath();
      }
    }

    EXPECT_TRUE(isChanged) << key.GetPath();
  }
}

TEST(TuningSchema, IntegersAreAcceptedUpToTheirLimits)
{
  const std::vector<std::pair<const TuningKey*, IntegerRange>> cases = {
      {FindTuningKey(DICOM_SOCKETS, "ReceiveBuffer"), BUFFER_RANGE},
      {FindTuningKey(DICOM_SOCKETS, "SendBuffer"), BUFFER_RANGE},
      {FindTuningKey(DICOM_SOCKETS, "KeepAliveSeconds"), KEEP_ALIVE_RANGE},
      {FindTuningKey(DICOM_SOCKETS, "UserTimeoutSeconds"), USER_TIMEOUT_RANGE},
      {FindTuningKey(INGEST_TRANSCODING, "LossyQuality"), LOSSY_QUALITY_RANGE},
      {FindTuningKey(MEMORY, "IngestBudget"), MEMORY_RANGE},
      {FindTuningKey(MEMORY, "IngestWaitSeconds"), INGEST_WAIT_RANGE},
      {FindTuningKey(ANSWERS, "ArchiveLevel"), DEFLATE_LEVEL_RANGE},
      {FindTuningKey(ANSWERS, "HttpLevel"), DEFLATE_LEVEL_RANGE},
      {FindTuningKey(ANSWERS, "PreviewLevel"), DEFLATE_LEVEL_RANGE},
  };

  for (const auto& [key, range] : cases)
  {
    for (const std::int64_t value : {range.minimum, range.maximum})
    {
      Tuning fromInteger;
      Tuning fromDouble;
      EXPECT_TRUE(key->read(Json::Value(static_cast<Json::Int64>(value)), fromInteger));
      EXPECT_TRUE(key->read(Json::Value(static_cast<double>(value)), fromDouble));
      EXPECT_EQ(fromInteger, fromDouble);
      EXPECT_EQ(value, key->write(fromInteger).asInt64());
    }

    EXPECT_FALSE(Accepts(key->section, key->name, Json::Int64(range.minimum - 1)));
    EXPECT_FALSE(Accepts(key->section, key->name, Json::Int64(range.maximum + 1)));
    EXPECT_FALSE(Accepts(key->section, key->name, static_cast<double>(range.minimum) + 0.5));
    EXPECT_FALSE(Accepts(key->section, key->name, std::to_string(range.minimum)));
  }
}

TEST(TuningSchema, AmountsOfMemoryAreBytesOrShares)
{
  for (const char* share : {"1%", "25%", "100%"})
  {
    Tuning tuning;
    EXPECT_TRUE(FindTuningKey(MEMORY, "IngestBudget")->read(share, tuning)) << share;
    EXPECT_EQ(share, FindTuningKey(MEMORY, "IngestBudget")->write(tuning).asString());
  }

  for (const char* wrong : {"0%", "101%", "025%", "25", "25 %", "%", "-1%", "2.5%", "25%%", ""})
  {
    EXPECT_FALSE(Accepts(MEMORY, "IngestBudget", wrong)) << wrong;
  }

  EXPECT_TRUE(Accepts(MEMORY, "IngestBudget", 0));
  EXPECT_FALSE(Accepts(MEMORY, "IngestBudget", 25));

  EXPECT_EQ(750U, (MemoryAmount{0, 25}.Resolve(3000)));
  EXPECT_EQ(0U, (MemoryAmount{0, 25}.Resolve(0)));
  EXPECT_EQ(7U, (MemoryAmount{7, 0}.Resolve(3000)));

  // Room for what two messages begin with
  constexpr std::uint64_t BEGINNING = 2 * AdmissionQueue::PIECE * AdmissionQueue::COPIES;
  EXPECT_LE(2 * BEGINNING, static_cast<std::uint64_t>(MEMORY_RANGE.minimum));
  EXPECT_FALSE(Accepts(MEMORY, "IngestBudget", -1));
}

TEST(TuningSchema, WordsAreAcceptedAsTheirKeysHaveThem)
{
  EXPECT_TRUE(Accepts(DICOM_SOCKETS, "ReceiveBuffer", "auto"));
  EXPECT_TRUE(Accepts(DICOM_SOCKETS, "SendBuffer", "default"));
  EXPECT_FALSE(Accepts(DICOM_SOCKETS, "SendBuffer", ""));

  for (const char* name : {"", "bbr", "cubic", "bbr2_x", "abcdefghijklmno"})
  {
    EXPECT_TRUE(Accepts(DICOM_SOCKETS, "CongestionControl", name)) << name;
  }

  for (const char* name : {"BBR", "abcdefghijklmnop", "b r", "../x", "bbr\n", "b\xc3\xa4r"})
  {
    EXPECT_FALSE(Accepts(DICOM_SOCKETS, "CongestionControl", name)) << name;
  }
}

TEST(TuningSchema, TransferSyntaxesBecomeUids)
{
  for (const TransferSyntax& syntax : GetWritableSyntaxes())
  {
    Tuning tuning;
    const TuningKey* const key = FindTuningKey(INGEST_TRANSCODING, "TransferSyntax");
    EXPECT_TRUE(key->read(syntax.name, tuning));
    EXPECT_EQ(syntax.uid, tuning.ingestTranscoding.transferSyntax);
    EXPECT_EQ(syntax.uid, key->write(tuning).asString());
    EXPECT_NE(std::string::npos, key->allowed.find(syntax.name));
    EXPECT_TRUE(key->read("", tuning));
    EXPECT_EQ("", tuning.ingestTranscoding.transferSyntax);
  }
}
