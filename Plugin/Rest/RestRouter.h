// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestMessage.h"

#include <functional>
#include <map>
#include <string>

namespace OrthancPerf
{
  // Which function serves which method of which route below /perf. Filled once by the plugin's
  // context, which owns it; read by all HTTP threads from then on.
  class RestRouter
  {
  public:
    // Serves a request, or throws RestError, or SettingError, which is a 400
    using Handler = std::function<RestAnswer(const RestRequest&)>;

    // "{id}" at the end of a path stands for any name
    void Register(const std::string& path, HttpMethod method, const std::string& summary,
                  Handler handler);

    // The answer to any request, errors included: 404 for an unknown route, 405 for a method that
    // the route does not have, 403 for a change that another server's page asks for, 500 for an
    // unexpected failure. No cache keeps it unless its handler says so. Never throws but for lack
    // of memory.
    RestAnswer Serve(const RestRequest& request) const;

    // The value of the header "Allow" of a 405 (RFC 9110 section 10.2.1): "GET,PUT"
    std::string GetAllowedMethods(const std::string& path) const;

    // Every route with its methods and what it answers, for GET /perf
    Json::Value Describe() const;

  private:
    struct Route
    {
      std::string summary;
      Handler handler;
    };

    using Methods = std::map<HttpMethod, Route>;

    RestAnswer Answer(const RestRequest& request) const;
    const Methods* FindMethods(const std::string& path) const;  // null: no such route
    const Route& Find(const RestRequest& request) const;

    std::map<std::string, Methods> routes_;
  };


  // What keeps a page of someone else's from acting through the browser of a user who is signed in.
  // The browser adds the password to any request; but no page can write the headers looked at here.

  // Throws SettingError if an argument "_method" or a header "X-HTTP-Method-Override" names another
  // method. Orthanc obeys them before the plugin is asked (ExtractMethod in its HttpServer.cpp): an
  // image in any page could be a DELETE.
  void RefuseOtherMethod(const RestRequest& request);

  // Throws RestError (403) if a browser sent the request for a foreign page. A page is not foreign
  // if "Sec-Fetch-Site" says so, or if "Origin" (RFC 6454 section 7) is the host that was asked:
  // "Host", or a proxy's "X-Forwarded-Host". Programs send neither header, and pass.
  void RefuseForeignPage(const RestRequest& request);
}
