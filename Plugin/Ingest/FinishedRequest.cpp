// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/FinishedRequest.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Which class a part of a path stands for
    struct Route
    {
      std::string_view part;
      RouteClass route;
    };

    // Of the last part, whatever stands before it
    constexpr Route ARCHIVES[] = {{"archive", RouteClass::Archive},
                                  {"media", RouteClass::Archive},
                                  {"create-archive", RouteClass::Archive},
                                  {"create-media", RouteClass::Archive},
                                  {"create-media-extended", RouteClass::Archive}};

    // Behind "tools"
    constexpr Route TOOLS[] = {{"find", RouteClass::Query},
                               {"lookup", RouteClass::Query},
                               {"count-resources", RouteClass::Query}};

    // Of the last part of "/instances/{}/…"
    constexpr Route INSTANCES[] = {{"file", RouteClass::File},
                                   {"preview", RouteClass::Preview},
                                   {"rendered", RouteClass::Rendered}};

    // Of the last part of "…/studies/{}/series/{}/instances/{}/frames/{}"
    constexpr Route DICOMWEB[] = {
        {"metadata", RouteClass::WadoMetadata}, {"rendered", RouteClass::Rendered},
        {"thumbnail", RouteClass::Rendered},    {"studies", RouteClass::Query},
        {"series", RouteClass::Query},          {"instances", RouteClass::Query}};

    // Else of what stands before the identifier at its end
    constexpr Route WADO[] = {{"studies", RouteClass::WadoStudy},
                              {"series", RouteClass::WadoSeries},
                              {"instances", RouteClass::WadoInstance},
                              {"frames", RouteClass::WadoFrames}};

    template <std::size_t COUNT>
    std::optional<RouteClass> Find(const Route (&routes)[COUNT], std::string_view part) noexcept
    {
      const auto* const found =
          std::find_if(std::begin(routes), std::end(routes),
                       [part](const Route& route) { return route.part == part; });
      return found == std::end(routes) ? std::nullopt : std::make_optional(found->route);
    }

    bool IsLevel(std::string_view part) noexcept
    {
      return Find(DICOMWEB, part) == RouteClass::Query;
    }

    // What a path has between its slashes
    struct Parts
    {
      explicit Parts(std::string_view path) noexcept
      {
        path = path.substr(0, path.find('?'));

        while (!path.empty())
        {
          const std::string_view part = path.substr(0, path.find('/'));
          path.remove_prefix(std::min(part.size() + 1, path.size()));

          if (!part.empty())
          {
            hasLevel |= count > 0 && IsLevel(part);
            beforeLast = std::exchange(last, part);
            (count < first.size() ? first[count] : last) = part;
            count++;
          }
        }
      }

      std::array<std::string_view, 3> first;  // empty: there are fewer
      std::string_view beforeLast;
      std::string_view last;
      std::size_t count = 0;
      bool hasLevel = false;  // behind the first part
    };
  }

  Duration FinishedRequest::GetDuration() const noexcept
  {
    Duration duration = Duration::zero();

    for (std::size_t i = 1; i < phases.size(); i++)
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
    const std::string_view first = parts.first[0];

    if (const auto archive = Find(ARCHIVES, parts.last))
    {
      return archive;
    }

    if (const auto tool = Find(TOOLS, parts.first[1]); tool && first == "tools")
    {
      return tool;
    }

    // Who reads the figures of this plugin is no part of them
    if (isPost || first == "perf")
    {
      return std::nullopt;
    }

    if (first == "instances" && parts.count > 2)
    {
      const bool isFrame = parts.first[2] == "frames" || parts.last.substr(0, 6) == "image-";
      return Find(INSTANCES, parts.last).value_or(isFrame ? RouteClass::Frame : RouteClass::Other);
    }

    // DICOMweb's "Root" has one part or more; Orthanc's own levels have none before them
    if (!parts.hasLevel || IsLevel(first))
    {
      return RouteClass::Other;
    }

    const auto end = Find(DICOMWEB, parts.last);
    return end ? *end : Find(WADO, parts.beforeLast).value_or(RouteClass::Other);
  }
}
