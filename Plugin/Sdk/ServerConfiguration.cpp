// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/ServerConfiguration.h"

#include <boost/lexical_cast/try_lexical_convert.hpp>
#include <limits>
#include <regex>
#include <sstream>
#include <system_error>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint16_t DEFAULT_DICOM_PORT = 4242;
    constexpr std::uint16_t DEFAULT_HTTP_PORT = 8042;
    constexpr std::size_t MAXIMUM_URL = 1000;   // std::regex uses the stack for each character
    constexpr std::uint16_t DEFAULT_HTTP = 80;  // of a URL
    constexpr std::uint16_t DEFAULT_HTTPS = 443;
    constexpr std::size_t DEFAULT_DICOM_THREADS = 4;
    constexpr const char* DEFAULT_STORAGE = "OrthancStorage";

    std::size_t GetCount(const Json::Value& configuration, const char* key,
                         std::size_t defaultCount)
    {
      const Json::Value& count = configuration[key];
      return count.isUInt() ? count.asUInt() : defaultCount;
    }

    std::uint16_t GetPort(const Json::Value& configuration, const char* portKey,
                          std::uint16_t defaultPort, const char* enabledKey)
    {
      return configuration[enabledKey] == Json::Value(false)
                 ? 0
                 : static_cast<std::uint16_t>(GetCount(configuration, portKey, defaultPort));
    }

    std::string GetFolder(const Json::Value& configuration, const char* key,
                          const std::string& defaultFolder, const std::filesystem::path& base)
    {
      const Json::Value& text = configuration[key];
      const bool isReadOnly = configuration["ReadOnly"] == Json::Value(true);
      return isReadOnly ? ""
                        : (base / (text.isString() ? text.asString() : defaultFolder)).string();
    }

    // A number, or a text with one, as Orthanc takes it (RemoteModalityParameters.cpp); 0: neither
    std::uint16_t ReadPort(const Json::Value& value)
    {
      int port = value.isInt() ? value.asInt() : 0;

      if (value.isString() && !boost::conversion::try_lexical_convert(value.asString(), port))
      {
        port = 0;
      }

      return port > 0 && port <= std::numeric_limits<std::uint16_t>::max()
                 ? static_cast<std::uint16_t>(port)
                 : 0;
    }

    // "https://user:password@[::1]:8042/path" (RFC 3986 section 3.2)
    void AddPeer(std::vector<Destination>& destinations, const std::string& name,
                 const Json::Value& url)
    {
      static const std::regex URL(
          R"((https?)://(?:[^/@]*@)?(?:\[([^\]/]+)\]|([^:/]+))(?::(\d+))?.*)", std::regex::icase);
      std::smatch parts;
      const std::string text = url.isString() ? url.asString() : "";

      if (text.size() > MAXIMUM_URL || !std::regex_match(text, parts, URL))
      {
        return;
      }

      const std::uint16_t port = parts[4].matched         ? ReadPort(parts[4].str())
                                 : parts[1].length() == 5 ? DEFAULT_HTTPS
                                                          : DEFAULT_HTTP;
      const std::string host = parts[2].str() + parts[3].str();

      // libcurl does not look this name up
      for (const std::string& one : host == "localhost"
                                        ? std::vector<std::string>{host, "127.0.0.1", "::1"}
                                        : std::vector<std::string>{host})
      {
        destinations.push_back({name, HashHost(one), port, false, true});
      }
    }

    std::string FindDatabaseSection(const Json::Value& configuration)
    {
      for (const char* const name : {"PostgreSQL", "MySQL", "Odbc"})
      {
        const Json::Value& section = configuration[name];

        // Several servers are to write to it
        const bool isShared = section.isObject() && section["Lock"] == Json::Value(false);

        if (section.isObject() && (section.isMember("EnableIndex")
                                       ? section["EnableIndex"] == Json::Value(true)
                                       : isShared && section["EnableStorage"] != Json::Value(true)))
        {
          return name;
        }
      }

      return "";
    }
  }

  std::filesystem::path FindConfigurationFolder(const std::string& commandLine)
  {
    std::istringstream words(commandLine);
    std::string word;
    std::getline(words, word, '\0');  // the program

    while (std::getline(words, word, '\0'))
    {
      if (!word.empty() && word[0] != '-')
      {
        const std::filesystem::path path = std::filesystem::absolute(word);
        std::error_code error;
        return std::filesystem::is_directory(path, error) ? path : path.parent_path();
      }
    }

    return std::filesystem::current_path();
  }

  std::vector<Destination> ReadDestinations(const Json::Value& modalities, const Json::Value& peers)
  {
    std::vector<Destination> destinations;

    for (const Json::Value& modality : modalities)
    {
      // Either ["AET", "host", port] or {"AET": ..., "Host": ..., "Port": ...}
      const auto get = [&modality](unsigned int index, const char* key)
      {
        return modality.isArray()    ? modality.get(index, Json::Value())
               : modality.isObject() ? modality.get(key, Json::Value())
                                     : Json::Value();
      };
      const Json::Value title = get(0, "AET");
      const Json::Value host = get(1, "Host");

      if (title.isString() && host.isString())
      {
        destinations.push_back(
            {title.asString(), HashHost(host.asString()), ReadPort(get(2, "Port")),
             modality.isObject() && modality["UseDicomTls"] == Json::Value(true)});
      }
    }

    for (const std::string& name :
         peers.isObject() ? peers.getMemberNames() : Json::Value::Members())
    {
      // Either ["http://host:port/", ...] or {"Url": "http://host:port/", ...}
      const Json::Value& peer = peers[name];
      AddPeer(destinations, name,
              peer.isArray()    ? peer.get(0u, Json::Value())
              : peer.isObject() ? peer["Url"]
                                : peer);
    }

    return destinations;
  }

  ServerConfiguration::ServerConfiguration(const Json::Value& orthancConfiguration,
                                           const std::filesystem::path& folder) :
    dicomPort(GetPort(orthancConfiguration, "DicomPort", DEFAULT_DICOM_PORT, "DicomServerEnabled")),
    httpPort(GetPort(orthancConfiguration, "HttpPort", DEFAULT_HTTP_PORT, "HttpServerEnabled")),
    dicomThreads(GetCount(orthancConfiguration, "DicomThreadsCount", DEFAULT_DICOM_THREADS)),
    destinations(ReadDestinations(orthancConfiguration["DicomModalities"],
                                  orthancConfiguration["OrthancPeers"])),
    storageDirectory(GetFolder(orthancConfiguration, "StorageDirectory", DEFAULT_STORAGE, folder)),
    indexDirectory(GetFolder(orthancConfiguration, "IndexDirectory", storageDirectory, folder)),
    databaseSection(FindDatabaseSection(orthancConfiguration))
  {
  }
}
