// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/FinishedRequest.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::array<const char*, ROUTE_CLASS_COUNT> ROUTES = {
        "file",       "frame",       "rendered",      "preview",     "archive",
        "wado-study", "wado-series", "wado-instance", "wado-frames", "wado-metadata",
        "query",      "other",       "c-get",         "c-move",      "c-find"};

    // Longer paths are of bulk data
    constexpr std::size_t MAXIMUM_PARTS = 12;

    // The parts of a path between its slashes
    struct Parts
    {
      explicit Parts(std::string_view path) noexcept
      {
        path = path.substr(0, path.find('?'));

        while (!path.empty() && count < MAXIMUM_PARTS)
        {
          const std::size_t end = std::min(path.find('/'), path.size());

          if (end > 0)
          {
            texts[count++] = path.substr(0, end);
          }

          path.remove_prefix(std::min(end + 1, path.size()));
        }
      }

      // Empty: there are fewer
      std::string_view At(std::size_t place) const noexcept
      {
        return place < count ? texts[place] : std::string_view();
      }

      std::string_view Last() const noexcept
      {
        return count == 0 ? std::string_view() : texts[count - 1];
      }

      std::array<std::string_view, MAXIMUM_PARTS> texts;
      std::size_t count = 0;
    };


    bool IsLevel(std::string_view part) noexcept
    {
      return part == "studies" || part == "series" || part == "instances";
    }


    bool IsArchive(std::string_view part) noexcept
    {
      return part == "archive" || part == "media" || part == "create-archive" ||
             part == "create-media" || part == "create-media-extended";
    }


    // "studies/{}/series/{}/instances/{}/frames/{}", from "begin" on
    RouteClass ReadDicomWeb(const Parts& parts, std::size_t begin) noexcept
    {
      const std::string_view last = parts.Last();

      if (last == "metadata")
      {
        return RouteClass::WadoMetadata;
      }

      if (last == "rendered" || last == "thumbnail")
      {
        return RouteClass::Rendered;
      }

      if (IsLevel(last))
      {
        return RouteClass::Query;
      }

      // What stands before the identifier at the end
      const std::string_view level = parts.count - begin < 2 ? "" : parts.At(parts.count - 2);
      return level == "studies"     ? RouteClass::WadoStudy
             : level == "series"    ? RouteClass::WadoSeries
             : level == "instances" ? RouteClass::WadoInstance
             : level == "frames"    ? RouteClass::WadoFrames
                                    : RouteClass::Other;
    }


    RouteClass ReadInstance(const Parts& parts) noexcept
    {
      const std::string_view last = parts.Last();
      return last == "file"                                             ? RouteClass::File
             : last == "preview"                                        ? RouteClass::Preview
             : last == "rendered"                                       ? RouteClass::Rendered
             : parts.At(2) == "frames" || last.substr(0, 6) == "image-" ? RouteClass::Frame
                                                                        : RouteClass::Other;
    }
  }


  const char* ToLabel(RouteClass route)
  {
    return ROUTES[static_cast<std::size_t>(route)];
  }


  const char* ToLabel(RequestPhase phase)
  {
    constexpr std::array<const char*, REQUEST_PHASE_COUNT> PHASES = {
        "idle", "receive", "database", "storage", "work", "send"};
    return PHASES[static_cast<std::size_t>(phase)];
  }


  Duration FinishedRequest::GetDuration() const noexcept
  {
    Duration duration = Duration::zero();

    for (std::size_t i = static_cast<std::size_t>(RequestPhase::Receive); i < phases.size(); i++)
    {
      duration += phases[i].value_or(Duration::zero());
    }

    return duration;
  }


  std::size_t FinishedRequest::GetStatusPlace() const noexcept
  {
    constexpr std::size_t SUCCESS = 6;  // in READ_STATUSES
    constexpr std::uint16_t CANCELLED = 0xfe00;
    const std::uint16_t known = status.value_or(0);

    if (IsDimse(route))
    {
      return known == 0 ? SUCCESS : known == CANCELLED ? SUCCESS + 1 : SUCCESS + 2;
    }

    return known / 100 < SUCCESS ? known / 100 : 0;
  }


  bool FinishedRequest::HasFailed() const noexcept
  {
    return IsDimse(route) ? GetStatusPlace() == READ_STATUSES.size() - 1
                          : status.value_or(0) >= 500;
  }


  std::optional<RouteClass> ReadRouteClass(std::string_view path, bool isPost) noexcept
  {
    const Parts parts(path);
    const std::string_view first = parts.At(0);
    const std::string_view second = parts.At(1);

    if (IsArchive(parts.Last()))
    {
      return RouteClass::Archive;
    }

    if (first == "tools" && (second == "find" || second == "lookup" || second == "count-resources"))
    {
      return RouteClass::Query;
    }

    // Who reads the figures of this plugin is no part of them
    if (isPost || first == "perf")
    {
      return std::nullopt;
    }

    if (first == "instances" && parts.count > 2)
    {
      return ReadInstance(parts);
    }

    // DICOMweb's "Root" has one part or more; Orthanc's own levels have none before them
    const auto* const end = parts.texts.begin() + parts.count;
    const auto* const level = std::find_if(parts.texts.begin(), end, IsLevel);
    return level == end || level == parts.texts.begin()
               ? RouteClass::Other
               : ReadDicomWeb(parts, static_cast<std::size_t>(level - parts.texts.begin()));
  }
}
