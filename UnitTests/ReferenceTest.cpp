// SPDX-License-Identifier: GPL-3.0-or-later
#include "BuildPaths.h"
#include "Metrics/MetricTable.h"
#include "Tuning/PerfConfiguration.h"
#include "Tuning/TuningSchema.h"

#include <gtest/gtest.h>
#include <json/writer.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

// The tables of Resources/Documentation/reference.md that are made from tables in the code.
// "make-page.py reference" has this test write them, by PERF_TABLES, and puts them into the page.

namespace OrthancPerf
{
  namespace
  {
    // A table's name and its lines
    using Tables = std::map<std::string, std::vector<std::string>>;

    std::string Quote(std::string text)
    {
      for (std::size_t at = 0; (at = text.find(", ", at)) != std::string::npos; at += 4)
      {
        text.replace(at, 2, "`, `");
      }

      return text.empty() ? text : "`" + text + "` ";
    }

    std::vector<std::string> DescribeMetrics()
    {
      std::vector<std::string> lines = {"| name | type | labels | what it is |",
                                        "| --- | --- | --- | --- |"};

      for (const MetricRow& row : GetMetricTable())
      {
        lines.push_back("| `" + row.name + "` | " + ToLabel(row.type) + " | " + Quote(row.labels) +
                        "| " + row.help + " |");
      }

      return lines;
    }

    // The row of a setting, up to its text
    template <typename Key, typename Settings>
    std::string DescribeSetting(const Key& key, const Settings& defaults)
    {
      Json::StreamWriterBuilder writer;
      writer["indentation"] = "";
      const std::string value =
          key.name == PRESET ? "" : "`" + Json::writeString(writer, key.write(defaults)) + "` ";
      return "| `" + key.name + "` | " + key.type + " | " + key.allowed + " | " + value + "| ";
    }

    Tables MakeTables()
    {
      Tables tables;
      tables["metrics"] = DescribeMetrics();

      for (const auto& key : GetPerfKeys())
      {
        tables["Perf"].push_back(DescribeSetting(key, PerfConfiguration()));
      }

      for (const TuningKey& key : GetTuningKeys())
      {
        tables[key.section].push_back(DescribeSetting(key, Tuning()));
      }

      return tables;
    }
  }

  TEST(Reference, HasTheTablesOfTheCode)
  {
    const char* folder = std::getenv("PERF_TABLES");  // NOLINT(concurrency-mt-unsafe): one thread
    std::ifstream page(std::string(BuildPaths::GetSourceFolder()) +
                       "/Resources/Documentation/reference.md");
    const std::string text((std::istreambuf_iterator<char>(page)),
                           std::istreambuf_iterator<char>());

    for (const auto& [name, lines] : MakeTables())
    {
      std::ofstream file(folder == nullptr ? "/dev/null" : folder + ("/" + name));

      for (const std::string& line : lines)
      {
        file << line << "\n";
        EXPECT_TRUE(folder != nullptr || text.find("\n" + line) != std::string::npos)
            << "Run make-page.py reference: " << line;
      }
    }
  }
}
