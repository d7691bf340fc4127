// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/RequestSafety.h"

#include "Tuning/SettingError.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Who serves a page: "pacs.example" and "8080"; the port is empty where it is not named
    struct Authority
    {
      std::string host;
      std::string port;
    };


    std::string ToLower(std::string text)
    {
      std::transform(text.begin(), text.end(), text.begin(),
                     [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
      return text;
    }


    // RFC 3986 section 3.2; the colons of an IPv6 address are within its brackets
    Authority ReadAuthority(const std::string& text)
    {
      const std::size_t colon = text.rfind(':');

      if (colon == std::string::npos || text.find(']', colon) != std::string::npos)
      {
        return {ToLower(text), ""};
      }

      return {ToLower(text.substr(0, colon)), text.substr(colon + 1)};
    }


    // The host is empty where the page has no server: "null", "file://"
    Authority ReadOrigin(const std::string& origin)
    {
      const std::size_t end = origin.find("://");

      if (end == std::string::npos)
      {
        return {};
      }

      Authority authority = ReadAuthority(origin.substr(end + 3));

      if (authority.port.empty())
      {
        authority.port = origin.compare(0, end, "https") == 0 ? "443" : "80";
      }

      return authority;
    }


    // A proxy may name the host alone, as nginx' $host
    bool IsServedBy(const Authority& page, const std::string& server)
    {
      const Authority authority = ReadAuthority(server);
      return !page.host.empty() && page.host == authority.host &&
             (authority.port.empty() || page.port == authority.port);
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
      const Authority page = ReadOrigin(origin);
      return IsServedBy(page, request.GetHeader("host").value_or("")) ||
             IsServedBy(page, request.GetHeader("x-forwarded-host").value_or(""));
    }
  }


  void RefuseOtherMethod(const RestRequest& request)
  {
    for (const auto& [name, value] : request.arguments)
    {
      if (ToLower(name) == "_method")
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
                             " may not change anything here; a reverse proxy has to pass on the "
                             "header \"Host\", or send it as \"X-Forwarded-Host\"");
  }
}
