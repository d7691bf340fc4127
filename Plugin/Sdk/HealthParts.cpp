// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/HealthParts.h"

#include <exception>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // How long an answer is good for. A disk has to sync.
    constexpr std::chrono::seconds DATABASE_PERIOD(1);
    constexpr std::chrono::seconds DISK_PERIOD(10);


    // A file system may hang for ever, and a thread that waits for it cannot be interrupted: it is
    // left behind, and may outlive the plugin's objects
    void PostDetached(std::function<void()> work)
    {
      std::thread(std::move(work)).detach();
    }
  }


  std::vector<HealthWatch::Part> MakeHealthParts(const Orthanc& orthanc,
                                                 const ServerConfiguration& server,
                                                 AdvisorSources& sources, HealthWatch::Post post)
  {
    const auto checkDatabase = [&orthanc, &sources,
                                &section = server.databaseSection]() -> std::string
    {
      try
      {
        orthanc.AskDatabase();
      }
      catch (const std::exception& error)
      {
        return error.what();
      }

      const std::optional<Served> served = sources.GetServed();

      // What it stores then, no other server of the fleet would find
      return served && !served->isDatabase && !section.empty()
                 ? "the index is SQLite's, though the configuration has \"" + section +
                       "\": is its plugin loaded, and \"EnableIndex\" true?"
                 : std::string();
    };
    const auto makeDisk = [&sources](const std::string& name, const std::string& folder, auto isOwn)
    {
      const auto findCheck = [&sources, folder, isOwn]
      {
        const std::optional<Served> served = sources.GetServed();
        return served && isOwn(*served)
                   ? HealthWatch::Check([folder] { return TryToStore(folder); })
                   : HealthWatch::Check();
      };
      return HealthWatch::Part{name, DISK_PERIOD, findCheck, &PostDetached};
    };

    std::vector<HealthWatch::Part> parts = {
        {"Database", DATABASE_PERIOD, [checkDatabase] { return checkDatabase; }, std::move(post)}};

    if (!server.storageDirectory.empty())
    {
      const bool isOneDisk = server.indexDirectory == server.storageDirectory;
      parts.push_back(makeDisk("Storage", server.storageDirectory,
                               [](const Served& served) { return !served.isStorage; }));
      parts.push_back(makeDisk("Index", server.indexDirectory,
                               [isOneDisk](const Served& served)
                               { return !served.isDatabase && (served.isStorage || !isOneDisk); }));
    }

    return parts;
  }
}
