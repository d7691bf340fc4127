// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestRouter.h"

#include "Rest/Access/RequestSafety.h"
#include "Tuning/SettingError.h"

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
    RestAnswer answer = Answer(request);
    answer.headers.emplace("Cache-Control", "no-store");
    answer.headers.emplace("X-Content-Type-Options", "nosniff");
    return answer;
  }

  RestAnswer RestRouter::Answer(const RestRequest& request) const
  {
    try
    {
      RefuseOtherMethod(request);
      const Route& route = Find(request);

      if (request.method != HttpMethod::Get)
      {
        RefuseForeignPage(request);
      }

      return route.handler(request);
    }
    catch (const SettingError& error)
    {
      return RestError(400, error.what(), error.ToJson()).ToAnswer();
    }
    catch (const RestError& error)
    {
      return error.ToAnswer();
    }
    catch (const std::exception& error)
    {
      return RestError(500, error.what()).ToAnswer();
    }
  }

  std::string RestRouter::GetAllowedMethods(const std::string& path) const
  {
    std::string allowed;

    if (const Methods* methods = FindMethods(path))
    {
      for (const auto& method : *methods)
      {
        allowed += (allowed.empty() ? "" : ",") + std::string(ToText(method.first));
      }
    }

    return allowed;
  }

  const RestRouter::Methods* RestRouter::FindMethods(const std::string& path) const
  {
    auto methods = routes_.find(path);

    if (methods == routes_.end())
    {
      methods = routes_.find(path.substr(0, path.rfind('/')) + "/{id}");
    }

    return methods == routes_.end() ? nullptr : &methods->second;
  }

  const RestRouter::Route& RestRouter::Find(const RestRequest& request) const
  {
    const Methods* methods = FindMethods(request.path);

    if (methods == nullptr)
    {
      throw RestError(404, "No such route; GET /perf lists all");
    }

    const auto route = methods->find(request.method);

    if (route == methods->end())
    {
      throw RestError(405, "Allowed methods: " + GetAllowedMethods(request.path));
    }

    return route->second;
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
