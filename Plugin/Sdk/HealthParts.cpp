// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/HealthParts.h"

#include "Advisor/StorageTrial.h"

#include <exception>
#include <new>
#include <optional>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    // How long an answer is good for. A disk has to sync.
    constexpr std::chrono::seconds DATABASE_PERIOD(1);
    constexpr std::chrono::seconds DISK_PERIOD(10);
  }


  std::vector<HealthWatch::Part>
  MakeHealthParts(const Orthanc& orthanc, const ServerConfiguration& server,
                  AdvisorSources& sources, const std::function<void(std::function<void()>)>& post)
  {
    const std::string& images = server.storageDirectory;
    const std::string& index = server.indexDirectory;

    const auto findProblem = [&orthanc, &sources,
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
    // An answer that is lost would be waited for until Orthanc ends. This text needs no memory.
    const auto askDatabase = [findProblem, post](const HealthWatch::Answer& answer)
    {
      post(
          [findProblem, answer]
          {
            std::string problem = "no memory left";

            try
            {
              problem = findProblem();
            }
            catch (const std::bad_alloc&)
            {
            }

            answer(problem);
          });
    };
    const auto tryImages = [&sources, &images](const HealthWatch::Answer& answer)
    {
      const std::optional<Served> served = sources.GetServed();
      served && !served->isStorage ? TryToStore(images, answer) : answer("");
    };
    const auto tryIndex = [&sources, &images, &index](const HealthWatch::Answer& answer)
    {
      const std::optional<Served> served = sources.GetServed();
      const bool isOther = served && !served->isDatabase && (served->isStorage || index != images);
      isOther ? TryToStore(index, answer) : answer("");
    };

    std::vector<HealthWatch::Part> parts = {{"Database", DATABASE_PERIOD, askDatabase}};

    if (!images.empty())
    {
      parts.push_back({"Storage", DISK_PERIOD, tryImages});
      parts.push_back({"Index", DISK_PERIOD, tryIndex});
    }

    return parts;
  }
}
