// SPDX-License-Identifier: GPL-3.0-or-later
// OrthancPerfCheck FILE: judges the section "Perf" of a configuration of Orthanc's, by the code and
// in the words of the plugin, without a server. The exit code is 0 if Orthanc would start with it,
// else 1. It reads one file as Orthanc does: JSON with comments, and ${NAME} or ${NAME:-default}
// for the environment.
#include "Tuning/PerfConfiguration.h"
#include "Tuning/SettingError.h"

#include <json/reader.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <regex>
#include <sstream>
#include <stdexcept>

namespace
{
  std::string ReadFile(const char* path)
  {
    std::ifstream file(path, std::ios::binary);
    std::ostringstream content;
    content << file.rdbuf();

    if (!file || !content)
    {
      throw std::runtime_error("cannot be read");
    }

    return content.str();
  }


  // A variable that is not set and has no default is empty
  std::string SubstituteEnvironment(const std::string& text)
  {
    static const std::regex VARIABLE(R"(\$\{([^:}]+)(:-([^}]*))?\})");
    std::string result;
    std::size_t begin = 0;

    for (std::sregex_iterator match(text.begin(), text.end(), VARIABLE), end; match != end; ++match)
    {
      const char* const value = std::getenv(match->str(1).c_str());
      const auto position = static_cast<std::size_t>(match->position());
      result += text.substr(begin, position - begin) + (value ? value : match->str(3));
      begin = position + static_cast<std::size_t>(match->length());
    }

    return result + text.substr(begin);
  }


  Json::Value Parse(const std::string& text)
  {
    std::istringstream stream(SubstituteEnvironment(text));
    Json::CharReaderBuilder builder;
    Json::Value root;
    std::string errors;

    if (!Json::parseFromStream(builder, stream, &root, &errors))
    {
      throw std::runtime_error("is no JSON: " + errors);
    }

    if (!root.isObject())
    {
      throw std::runtime_error("is no JSON object");
    }

    return root;
  }


  int Check(const char* path)
  {
    const Json::Value root = Parse(ReadFile(path));
    const auto configuration = OrthancPerf::PerfConfiguration::ParseSectionOf(root);

    for (const std::string& warning : configuration.warnings)
    {
      std::cout << "Warning: Perf: " << warning << '\n';
    }

    std::cout << path << ": Orthanc starts with "
              << (root.isMember("Perf") ? "this section \"Perf\""
                                        : "the defaults, as there is no \"Perf\"")
              << '\n';
    return EXIT_SUCCESS;
  }
}


int main(int count, char* arguments[])
{
  if (count != 2)
  {
    std::cerr << "Usage: OrthancPerfCheck FILE\n";
    return 2;
  }

  try
  {
    return Check(arguments[1]);
  }
  catch (const OrthancPerf::SettingError& error)
  {
    std::cerr << "Error: Perf: " << error.what() << '\n';
  }
  catch (const std::exception& error)
  {
    std::cerr << "Error: " << arguments[1] << ' ' << error.what() << '\n';
  }

  return EXIT_FAILURE;
}
