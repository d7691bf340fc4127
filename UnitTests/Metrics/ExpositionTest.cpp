// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/Exposition.h"

#include "Metrics/GaugeFamily.h"

#include <gtest/gtest.h>
#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

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
  }

  TEST_F(ExpositionTest, IsEmptyWithoutMetrics)
  {
    prometheus::BuildCounter().Name("a_total").Help("None yet.").Register(registry_);
    EXPECT_EQ("", exposition_.ToText());
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
  }

  TEST_F(ExpositionTest, LabelsAreEscapedInTheText)
  {
    AddGauge("a\"b\\c\nd<script>").Set(1);
    EXPECT_TRUE(HasLine(R"(a_gauge{label="a\"b\\c\nd<script>"} 1)")) << exposition_.ToText();
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
    EXPECT_EQ("# HELP a_gauge A gauge.\n"
              "# TYPE a_gauge gauge\n"
              "a_gauge{label=\"z\"} 1\n"
              "# HELP tuning The tuning.\n"
              "# TYPE tuning gauge\n"
              "tuning{setting=\"a\"} 0\n"
              "tuning{setting=\"b\"} 1\n",
              Exposition({&tuning, &source_}).ToText());
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
    const GaugeFamily family("orthanc_perf_something", "Something.",
                             [&number] { return ToOnlyValue(number); });
    EXPECT_EQ("", Exposition({&family}).ToText());
    number = 100;
    EXPECT_NE(std::string::npos,
              Exposition({&family}).ToText().find("\northanc_perf_something 100\n"));
  }
}
