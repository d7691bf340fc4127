// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/ParseJson.h"

#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

using namespace OrthancPerf;

namespace
{
  std::string Nest(std::size_t depth)
  {
    return std::string(depth, '[') + std::string(depth, ']');
  }
}


TEST(ParseJson, ReadsADocument)
{
  EXPECT_EQ(
      60,
      Parse(" {\"DicomSockets\": {\"KeepAliveSeconds\": 60}}\n")["DicomSockets"]["KeepAliveSeconds"]
          .asInt());
}


TEST(ParseJson, RefusesWhatIsNotStrictJson)
{
  const std::vector<std::string> bodies = {"",
                                           " ",
                                           "{",
                                           "}",
                                           "{}}",
                                           "{} {}",
                                           "[1,]",
                                           "{\"a\":1,}",
                                           "{a:1}",
                                           "{'a':1}",
                                           "{\"a\":1,\"a\":2}",
                                           "// comment\n{}",
                                           "{// comment\n}",
                                           "{/* comment */ \"a\":1}",
                                           "{\"a\":[/* comment */]}",
                                           "{\"a\\\"\":1} // comment",
                                           "{\"a\":NaN}",
                                           "{\"a\":Infinity}",
                                           "\"text\"",
                                           "7",
                                           "null",
                                           "{\"a\":tru}",
                                           "{\"a\" 1}",
                                           std::string("\0", 1)};

  for (const std::string& body : bodies)
  {
    EXPECT_THROW(Parse(body), SettingError) << body;
  }
}


TEST(ParseJson, RefusesNoBodyAtAll)
{
  EXPECT_THROW(ParseJson(nullptr, 0), SettingError);
  EXPECT_THROW(ParseJson(nullptr, 5), SettingError);
}


TEST(ParseJson, NamesTheReasonInOnePrintableLine)
{
  const SettingError error = CatchError([] { Parse("{\"a\":1,\n\"a\":2}"); });
  EXPECT_EQ("", error.GetKey());
  EXPECT_NE(std::string::npos, std::string(error.what()).find("Duplicate key"));
  EXPECT_EQ(std::string::npos, std::string(error.what()).find('\n'));
}


TEST(ParseJson, BoundsTheDepth)
{
  EXPECT_NO_THROW(Parse(Nest(MAXIMUM_JSON_DEPTH)));
  EXPECT_THROW(Parse(Nest(MAXIMUM_JSON_DEPTH + 1)), SettingError);
  EXPECT_THROW(Parse(Nest(500000)), SettingError);
  EXPECT_THROW(Parse(std::string(500000, '[')), SettingError);
}


TEST(ParseJson, BoundsTheSize)
{
  const std::string padding(MAXIMUM_JSON_SIZE - 2, ' ');
  EXPECT_NO_THROW(Parse("{}" + padding));
  EXPECT_THROW(Parse("{}" + padding + " "), SettingError);
}


TEST(ParseJson, SlashesAndEscapesInsideStringsAreText)
{
  const Json::Value json = Parse(R"({"a/b": "// \" /* x */ \\", "c": "http://d"})");
  EXPECT_EQ("// \" /* x */ \\", json["a/b"].asString());
  EXPECT_EQ("http://d", json["c"].asString());
}
