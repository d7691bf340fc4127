// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestRouter.h"

#include <utility>

namespace OrthancPerf
{
  void RestRouter::Register(const std::string& path, HttpMethod method, const std::string& summary,
                            Handler handler)
  {
    routes_[path][method] = Route{summary, std::move(handler)};
  }

  RestAnswer RestRouter::Serve(const RestRequest& request) const
  {
    try
    {
      const auto route = routes_.find(request.path);

      if (route == routes_.end())
      {
        throw RestError(404, "No such route; GET /perf lists all");
      }

      const auto method = route->second.find(request.method);

      if (method == route->second.end())
      {
        throw RestError(405, "Allowed methods: " + GetAllowedMethods(request.path));
      }

      return method->second.handler(request);
    }
    catch (const RestError& error)
    {
      return AnswerJson(error.GetBody(), error.GetStatus());
    }
    catch (const std::exception& error)
    {
      return AnswerJson(RestError(500, error.what()).GetBody(), 500);
    }
  }

  std::string RestRouter::GetAllowedMethods(const std::string& path) const
  {
    std::string allowed;
    const auto route = routes_.find(path);

    if (route != routes_.end())
    {
      for (const auto& method : route->second)
      {
        allowed += (allowed.empty() ? "" : ",") + std::string(ToText(method.first));
      }
    }

    return allowed;
  }

  Json::Value RestRouter::Describe() const
  {
    Json::Value description = Json::objectValue;

    for (const auto& [path, methods] : routes_)
    {
      for (const auto& [method, route] : methods)
      {
        description[path][ToText(method)] = route.summary;
      }
    }

    return description;
  }
}
