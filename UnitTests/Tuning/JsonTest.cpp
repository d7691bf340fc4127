// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/Json.h"

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

TEST(ParseJson, ReadsADocumentWhoseStringsMayHaveSlashesAndEscapes)
{
  const Json::Value json = Parse(" {\"a/b\": \"// \\\" /* x */ \\\\\", \"c\": {\"d\": 60}}\n");
  EXPECT_EQ("// \" /* x */ \\", json["a/b"].asString());
  EXPECT_EQ(60, json["c"]["d"].asInt());
}

TEST(ParseJson, RefusesWhatIsNotStrictJson)
{
  const char* const bodies[] = {"",
                                " ",
                                "{",
                                "{}}",
                                "{} {}",
                                "[1,]",
                                "{a:1}",
                                "{'a':1}",
                                "7",
                                "null",
                                R"("text")",
                                R"({"a":1,})",
                                R"({"a":1,"a":2})",
                                "// comment\n{}",
                                R"({/* comment */ "a":1})",
                                R"({"a\"":1} // comment)",
                                R"({"a":NaN})",
                                R"({"a":Infinity})",
                                R"({"a":tru})"};

  for (const char* const body : bodies)
  {
    EXPECT_THROW(Parse(body), SettingError) << body;
  }

  EXPECT_THROW(Parse(std::string("\0", 1)), SettingError);
}

TEST(ParseJson, BoundsTheDepthAndTheSize)
{
  EXPECT_NO_THROW(Parse(Nest(MAXIMUM_JSON_DEPTH)));
  EXPECT_THROW(Parse(Nest(MAXIMUM_JSON_DEPTH + 1)), SettingError);
  EXPECT_THROW(Parse(Nest(500000)), SettingError);
  EXPECT_THROW(Parse(std::string(500000, '[')), SettingError);

  const std::string padding(MAXIMUM_JSON_SIZE - 2, ' ');
  EXPECT_NO_THROW(Parse("{}" + padding));
  EXPECT_THROW(Parse("{}" + padding + " "), SettingError);
  EXPECT_THROW(ParseJson(nullptr, 0), SettingError);
  EXPECT_THROW(ParseJson(nullptr, 5), SettingError);
}

TEST(ParseJson, NamesTheReasonInOnePrintableLine)
{
  const SettingError error = CatchError([] { Parse("{\"a\":1,\n\"a\":2}"); });
  EXPECT_EQ("", error.key);
  EXPECT_NE(std::string::npos, std::string(error.what()).find("Duplicate key"));
  EXPECT_EQ(std::string::npos, std::string(error.what()).find('\n'));
}

namespace
{
  struct Example
  {
    const char* target;
    const char* patch;
    const char* result;
  };

  // Scalars are no documents for ParseJson: each value is wrapped
  Json::Value ParseAny(const std::string& text)
  {
    return Parse("[" + text + "]")[0];
  }
}

TEST(JsonMergePatch, GivesTheResultsOfRfc7396AppendixA)
{
  const std::vector<Example> examples = {
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
      {R"({"a":"b"})", R"({"a":null})", R"({})"},
      {R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
      {R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
      {R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
      {R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
      {R"(["a","b"])", R"(["c","d"])", R"(["c","d"])"},
      {R"({"a":"b"})", R"(["c"])", R"(["c"])"},
      {R"({"a":"foo"})", "null", "null"},
      {R"({"a":"foo"})", R"("bar")", R"("bar")"},
      {R"({"e":null})", R"({"a":1})", R"({"e":null,"a":1})"},
      {R"([1,2])", R"({"a":"b","c":null})", R"({"a":"b"})"},
      {R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
  };

  for (const Example& example : examples)
  {
    EXPECT_EQ(ParseAny(example.result),
              MergeJson(ParseAny(example.target), ParseAny(example.patch)))
        << example.target << " with " << example.patch;
  }
}

TEST(JsonMergePatch, TheDifferenceMakesTheOneOfTheOther)
{
  const std::vector<Example> examples = {
      {R"({"a":"b"})", R"({})", R"({"a":"b"})"},
      {R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
      {R"({"a":"b","b":1})", R"({"a":null})", R"({"b":1})"},
      {R"({"a":{"b":"c","d":1}})", R"({"a":{"b":2}})", R"({"a":{"b":2,"d":1}})"},
      {R"({"a":1})", R"({"a":{"b":2}})", R"({"a":{"b":2}})"},
      {R"({})", R"({"a":{"b":[1]}})", R"({"a":{"b":[1]}})"},
  };

  for (const Example& example : examples)
  {
    const Json::Value target = Parse(example.target);
    const Json::Value result = Parse(example.result);
    EXPECT_EQ(Parse(example.patch), DiffJson(target, result));
    EXPECT_EQ(result, MergeJson(target, DiffJson(target, result)));
  }
}

TEST(SettingError, KeepsDescriptionsShortAndPrintable)
{
  EXPECT_EQ(MAXIMUM_DESCRIPTION + 3, Describe(std::string(5000, 'x')).size());
  EXPECT_EQ("a?b?", DescribeText("a\nb\x80"));
  EXPECT_EQ("\"\\u0001\\n\"", Describe("\x01\n"));
}
