// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/JsonValues.h"
#include "Tuning/TuningReader.h"
#include "Tuning/TuningSchema.h"

#include <gtest/gtest.h>

using namespace OrthancPerf;

namespace
{
  const char* const CONFIGURED =
      R"({"DicomSockets": {"KeepAliveSeconds": 30, "TcpNoDelay": true}})";
}

TEST(TuningSources, EachValueHasTheSourceThatCountsMost)
{
  const Json::Value overrides = Parse(R"({"DicomSockets": {"KeepAliveSeconds": 90}})");
  const Json::Value sockets = DescribeSources(Parse(CONFIGURED), overrides)["DicomSockets"];
  EXPECT_EQ(Parse(R"({"Value": 90, "Source": "REST", "Configured": 30})"),
            sockets["KeepAliveSeconds"]);
  EXPECT_EQ(Parse(R"({"Value": true, "Source": "Configuration"})"), sockets["TcpNoDelay"]);
  EXPECT_EQ(Parse(R"({"Value": true, "Source": "Default"})"), sockets["TcpQuickAck"]);
}

TEST(TuningSources, EveryKeyButThePresetHasOne)
{
  const Json::Value sources = DescribeSources(Json::objectValue, Json::objectValue);

  for (const TuningKey& key : GetTuningKeys())
  {
    EXPECT_EQ(key.name != PRESET, sources[key.section].isMember(key.name)) << key.GetPath();
  }
}
