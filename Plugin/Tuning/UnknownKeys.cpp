// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/UnknownKeys.h"

#include "Tuning/SettingError.h"

#include <boost/algorithm/string/join.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    char ToLower(char c)
    {
      return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    }


    std::size_t GetDistanceToPath(const std::string& name, const std::string& path)
    {
      const std::size_t dot = path.rfind('.');
      const std::string last = dot == std::string::npos ? path : path.substr(dot + 1);
      return std::min(GetEditDistance(name, path), GetEditDistance(name, last));
    }
  }


  std::size_t GetEditDistance(const std::string& a, const std::string& b)
  {
    const std::size_t height = std::min(a.size(), MAXIMUM_COMPARED);
    const std::size_t width = std::min(b.size(), MAXIMUM_COMPARED);

    // One row of the table: the distances from the start of "a" to each start of "b"
    std::vector<std::size_t> row(width + 1);
    std::iota(row.begin(), row.end(), 0);

    for (std::size_t i = 1; i <= height; i++)
    {
      std::size_t diagonal = row[0];
      row[0] = i;

      for (std::size_t j = 1; j <= width; j++)
      {
        const std::size_t replaced = diagonal + (ToLower(a[i - 1]) == ToLower(b[j - 1]) ? 0 : 1);
        diagonal = row[j];
        row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
      }
    }

    return row[width];
  }


  const std::string& FindNearestPath(const std::string& name, const std::vector<std::string>& paths)
  {
    if (paths.empty())
    {
      throw std::invalid_argument("There is no known path to compare with");
    }

    return *std::min_element(paths.begin(), paths.end(),
                             [&name](const std::string& a, const std::string& b)
                             { return GetDistanceToPath(name, a) < GetDistanceToPath(name, b); });
  }


  void ReportUnknownKey(const std::vector<std::string>& known, const std::string& path,
                        const std::string& name, const Json::Value& value,
                        std::vector<std::string>* warnings)
  {
    const std::string key = DescribeText(JoinPath(path, name));
    const std::string nearest = FindNearestPath(name, known);

    if (warnings == nullptr)
    {
      throw SettingError("Unknown key \"" + key + "\", did you mean \"" + nearest + "\"?", key,
                         Describe(value), boost::algorithm::join(known, ", "));
    }

    warnings->push_back("Unknown key \"" + key + "\" is ignored, did you mean \"" + nearest +
                        "\"?");
  }


  std::string JoinPath(const std::string& path, const std::string& name)
  {
    return path.empty() ? name : path + "." + name;
  }
}
