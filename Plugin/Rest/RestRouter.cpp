// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestRouter.h"

#include "Tuning/SettingError.h"

#include <boost/algorithm/string/predicate.hpp>

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using boost::algorithm::iequals;


    // Whether a page of this origin is of that server (RFC 6454 section 6). A browser leaves out
    // the scheme's usual port; a proxy may name the host alone, as nginx' $host.
    bool IsServedBy(const std::string& origin, const std::string& server)
    {
      const std::size_t end = origin.find("://");

      if (end == std::string::npos || server.empty())  // "null"
      {
        return false;
      }

      const std::string page = origin.substr(end + 3);
      const char* const usualPort = origin.compare(0, end, "https") == 0 ? ":443" : ":80";
      return iequals(page, server) || iequals(page.substr(0, page.rfind(':')), server) ||
             iequals(page + usualPort, server);
    }


    SettingError MakeMethodError(const std::string& kind, const std::string& name,
                                 const std::string& found)
    {
      return SettingError("The " + kind + " \"" + name +
                              "\" is not accepted below /perf: send the method itself",
                          name, DescribeText(found), "no " + kind + " of this name");
    }


    bool IsOfThisServer(const RestRequest& request, const std::string& origin)
    {
      return IsServedBy(origin, request.GetHeader("host").value_or("")) ||
             IsServedBy(origin, request.GetHeader("x-forwarded-host").value_or(""));
    }
  }


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


  void RefuseOtherMethod(const RestRequest& request)
  {
    for (const auto& [name, value] : request.arguments)
    {
      if (iequals(name, "_method"))
      {
        throw MakeMethodError("argument", "_method", value);
      }
    }

    if (const std::optional<std::string> header = request.GetHeader("x-http-method-override"))
    {
      throw MakeMethodError("header", "X-HTTP-Method-Override", *header);
    }
  }


  void RefuseForeignPage(const RestRequest& request)
  {
    const std::optional<std::string> site = request.GetHeader("sec-fetch-site");
    const std::optional<std::string> origin = request.GetHeader("origin");

    if (site == "same-origin" || site == "none" || (!site && !origin) ||
        (!site && IsOfThisServer(request, *origin)))
    {
      return;
    }

    const std::string page = origin.value_or("");
    throw RestError(403, "A page of another server" +
                             (page.empty() ? "" : ", \"" + DescribeText(page) + "\",") +
                             " may not change anything here. A reverse proxy must pass on the "
                             "header \"Host\", or send it as \"X-Forwarded-Host\"");
  }
}
