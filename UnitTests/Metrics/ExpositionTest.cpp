// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/Exposition.h"

#include "Metrics/GaugeFamily.h"

#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <limits>

namespace OrthancPerf
{
  namespace
  {
    class RegistrySource : public IMetricSource
    {
    public:
      explicit RegistrySource(const prometheus::Registry& registry) : registry_(registry)
      {
      }

      void Collect(const Receive& receive) const override
      {
        CollectFrom(registry_, receive);
      }

    private:
      const prometheus::Registry& registry_;
    };


    class ExpositionTest : public testing::Test
    {
    protected:
      bool HasLine(const std::string& line) const
      {
        return ("\n" + exposition_.ToText()).find("\n" + line + "\n") != std::string::npos;
      }

      prometheus::Gauge& AddGauge(const std::string& label)
      {
        return prometheus::BuildGauge()
            .Name("a_gauge")
            .Help("A gauge.")
            .Register(registry_)
            .Add({{"label", label}});
      }

      prometheus::Registry registry_;
      const RegistrySource source_{registry_};
      Exposition exposition_{{&source_}};
    };
  }

  TEST(ExpositionOfParts, HasTheHeadOfAFamilyOnce)
  {
    class Parts : public IMetricSource
    {
    public:
      void Collect(const Receive& receive) const override
      {
        for (const char* label : {"#1", "2", "3"})
        {
          receive(MakeFamily(prometheus::MetricType::Gauge, "a_gauge", "In parts.",
                             {{{{"label", label}}, 1}}));
        }

        receive(MakeFamily(prometheus::MetricType::Gauge, "b_gauge", "", {{{}, 2}}));
      }
    };

    const Parts parts;
    const Exposition exposition({&parts});
    EXPECT_EQ("# HELP a_gauge In parts.\n"
              "# TYPE a_gauge gauge\n"
              "a_gauge{label=\"#1\"} 1\n"
              "a_gauge{label=\"2\"} 1\n"
              "a_gauge{label=\"3\"} 1\n"
              "# TYPE b_gauge gauge\n"
              "b_gauge 2\n",
              exposition.ToText());
    const Json::Value json = exposition.ToJson();
    ASSERT_EQ(2u, json.size());
    EXPECT_EQ(3u, json[0]["Metrics"].size());
    EXPECT_EQ("3", json[0]["Metrics"][2]["Labels"]["label"].asString());
  }

  TEST_F(ExpositionTest, IsEmptyWithoutMetrics)
  {
    prometheus::BuildCounter().Name("a_total").Help("None yet.").Register(registry_);
    EXPECT_EQ("", exposition_.ToText());
    EXPECT_EQ(Json::Value(Json::arrayValue), exposition_.ToJson());
  }

  TEST_F(ExpositionTest, IntegersAreExactUpTo2To53)
  {
    prometheus::BuildCounter()
        .Name("a_total")
        .Help("A counter.")
        .Register(registry_)
        .Add({})
        .Increment(9007199254740991.0);
    EXPECT_TRUE(HasLine("a_total 9007199254740991")) << exposition_.ToText();
    EXPECT_EQ(Json::Int64{9007199254740991},
              exposition_.ToJson()[0]["Metrics"][0]["Value"].asInt64());
    EXPECT_TRUE(exposition_.ToJson()[0]["Metrics"][0]["Value"].isInt64());
  }

  TEST_F(ExpositionTest, LabelsAreEscapedInTheText)
  {
    AddGauge("a\"b\\c\nd<script>").Set(1);
    EXPECT_TRUE(HasLine(R"(a_gauge{label="a\"b\\c\nd<script>"} 1)")) << exposition_.ToText();
  }

  TEST_F(ExpositionTest, LabelsAreAsTheyAreInTheJson)
  {
    const std::string label = "a\"b\\c\nd<script>";
    AddGauge(label).Set(1);
    const Json::Value family = exposition_.ToJson()[0];
    EXPECT_EQ("a_gauge", family["Name"].asString());
    EXPECT_EQ("A gauge.", family["Help"].asString());
    EXPECT_EQ("gauge", family["Type"].asString());
    EXPECT_EQ(label, family["Metrics"][0]["Labels"]["label"].asString());
  }

  TEST_F(ExpositionTest, NumbersThatJsonDoesNotHaveAreStrings)
  {
    AddGauge("1").Set(std::numeric_limits<double>::quiet_NaN());
    AddGauge("2").Set(std::numeric_limits<double>::infinity());
    AddGauge("3").Set(-std::numeric_limits<double>::infinity());
    AddGauge("4").Set(0.25);
    const Json::Value metrics = exposition_.ToJson()[0]["Metrics"];
    EXPECT_EQ(Json::Value("NaN"), metrics[0]["Value"]);
    EXPECT_EQ(Json::Value("+Inf"), metrics[1]["Value"]);
    EXPECT_EQ(Json::Value("-Inf"), metrics[2]["Value"]);
    EXPECT_EQ(Json::Value(0.25), metrics[3]["Value"]);
  }

  TEST_F(ExpositionTest, AHistogramHasCumulativeBucketsUpToInfinity)
  {
    auto& histogram = prometheus::BuildHistogram()
                          .Name("a_seconds")
                          .Help("A histogram.")
                          .Register(registry_)
                          .Add({}, prometheus::Histogram::BucketBoundaries{0.5, 1});
    histogram.Observe(0.5);
    histogram.Observe(2.25);

    EXPECT_TRUE(HasLine("a_seconds_bucket{le=\"0.5\"} 1")) << exposition_.ToText();
    EXPECT_TRUE(HasLine("a_seconds_bucket{le=\"+Inf\"} 2"));
    EXPECT_TRUE(HasLine("a_seconds_sum 2.75"));

    const Json::Value metric = exposition_.ToJson()[0]["Metrics"][0];
    EXPECT_EQ(2, metric["Count"].asInt());
    EXPECT_EQ(2.75, metric["Sum"].asDouble());
    ASSERT_EQ(3U, metric["Buckets"].size());
    EXPECT_EQ(Json::Value(0.5), metric["Buckets"][0]["UpperBound"]);
    EXPECT_EQ(1, metric["Buckets"][1]["Count"].asInt());
    EXPECT_EQ(Json::Value("+Inf"), metric["Buckets"][2]["UpperBound"]);
    EXPECT_EQ(2, metric["Buckets"][2]["Count"].asInt());
    EXPECT_FALSE(metric.isMember("Value"));
  }

  TEST_F(ExpositionTest, FamiliesAndLabelsAreInOrder)
  {
    const GaugeFamily tuning("tuning", "The tuning.",
                             []
                             {
                               const std::vector<LabelledValue> values = {{{{"setting", "b"}}, 1},
                                                                          {{{"setting", "a"}}, 0}};
                               return values;
                             });
    AddGauge("z").Set(1);
    const Json::Value json = Exposition({&tuning, &source_}).ToJson();
    ASSERT_EQ(2U, json.size());
    EXPECT_EQ("a_gauge", json[0]["Name"].asString());
    EXPECT_EQ("a", json[1]["Metrics"][0]["Labels"]["setting"].asString());
    EXPECT_EQ("b", json[1]["Metrics"][1]["Labels"]["setting"].asString());
  }

  TEST(GaugeFamily, ShowsWhatIsThereAtTheScrapeOnly)
  {
    std::map<std::string, int> settings = {{"TcpNoDelay", 1}, {"KeepAliveSeconds", 60}};
    const GaugeFamily family("orthanc_perf_tuning", "The tuning in force.",
                             [&settings] { return ToLabelledValues("setting", settings); });
    EXPECT_NE(std::string::npos, Exposition({&family}).ToText().find("KeepAliveSeconds"));

    settings = {{"TcpNoDelay", 0}, {"TcpQuickAck", 1}};
    const std::string text = Exposition({&family}).ToText();
    EXPECT_NE(std::string::npos, text.find("orthanc_perf_tuning{setting=\"TcpNoDelay\"} 0\n"));
    EXPECT_NE(std::string::npos, text.find("orthanc_perf_tuning{setting=\"TcpQuickAck\"} 1\n"));
    EXPECT_EQ(std::string::npos, text.find("KeepAliveSeconds"));
  }

  TEST(GaugeFamily, IsAbsentWhileThereIsNothing)
  {
    const GaugeFamily family("orthanc_perf_findings", "Findings.",
                             [] { return std::vector<LabelledValue>(); });
    EXPECT_EQ("", Exposition({&family}).ToText());
  }

  TEST(GaugeFamily, HasOneValueOrNone)
  {
    std::optional<int> number;
    const GaugeFamily family("process_max_fds", "Descriptors.",
                             [&number] { return ToOnlyValue(number); });
    EXPECT_EQ("", Exposition({&family}).ToText());
    number = 100;
    EXPECT_NE(std::string::npos, Exposition({&family}).ToText().find("\nprocess_max_fds 100\n"));
  }
}
