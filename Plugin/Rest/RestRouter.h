// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Enumeration.h"
#include "Tuning/Json.h"

#include <json/json.h>

#include <functional>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>

namespace OrthancPerf
{
  // By the numbers of OrthancPluginHttpMethod
  enum class HttpMethod
  {
    Get = 1,
    Post,
    Put,
    Delete
  };

  const char* ToText(HttpMethod method);  // "GET"

  // An HTTP request to a route below /perf, without any type of Orthanc's SDK. A value.
  struct RestRequest
  {
    HttpMethod method = HttpMethod::Get;
    std::string path;                              // "/perf/status"
    std::map<std::string, std::string> arguments;  // of the query string
    std::map<std::string, std::string> headers;    // keys in lower case
    std::string body;
    std::string address;  // that reached Orthanc; empty: the request comes from inside Orthanc

    // Nothing if the request does not have it; the key is in lower case
    std::optional<std::string> GetHeader(const std::string& key) const;

    // The user that the request names (HTTP Basic, RFC 7617); empty: none, or it comes from inside
    // Orthanc. Orthanc compares the password before, where it asks for one; it asks for none of
    // what a plugin lets in, or where "AuthenticationEnabled" is false.
    std::string GetUser() const;
  };

  // The answer to it. A value.
  struct RestAnswer
  {
    int status = 200;
    std::string contentType;
    std::string body;
    std::map<std::string, std::string> headers = {};  // further ones
  };

  RestAnswer AnswerJson(const Json::Value& value, int status = 200);

  // Without line breaks, and with six digits a number that is no integer: for long arrays
  RestAnswer AnswerCompactJson(const Json::Value& value);

  // A request that cannot be served: the status, what is wrong in one sentence, and further keys of
  // the JSON body. Thrown by the resources, answered by the router.
  class RestError : public std::runtime_error
  {
  public:
    RestError(int status, const std::string& message,
              Json::Value details = Json::Value(Json::objectValue));

    // The names are those of Orthanc's own errors: {"Message": …, "HttpStatus": …}, and the details
    RestAnswer ToAnswer() const;

  private:
    int status_;
    Json::Value details_;
  };

  // An argument of the query string: names it, what was found and what is allowed
  SettingError MakeArgumentError(const std::string& name, const std::string& found,
                                 const std::string& allowed);

  // A name or a value of a query string without its escapes: "CT%20ROOM" and "CT+ROOM" are "CT
  // ROOM", as for civetweb (WHATWG URL Standard, section 5.1); what is no escape stays as it is
  std::string DecodeQuery(const std::string& text);

  std::optional<std::string> GetArgument(const RestRequest& request, const std::string& name);

  // How many of a list are wanted: the argument "limit", or 100. Throws SettingError if it is no
  // integer.
  std::size_t GetLimit(const RestRequest& request);

  // The argument as a value of an enumeration, by the name that the answer gives each; nothing if
  // the request does not have it
  template <typename Enum, typename GetName = const char* (*)(Enum)>
  std::optional<Enum> GetChoice(const RestRequest& request, const std::string& name,
                                const GetName& getName = &ToLabel<Enum>)
  {
    const std::optional<std::string> text = GetArgument(request, name);
    std::string allowed;

    if (!text)
    {
      return std::nullopt;
    }

    for (const Enum value : ListAll<Enum>())
    {
      if (*text == getName(value))
      {
        return value;
      }

      allowed += (allowed.empty() ? "" : ", ") + std::string(getName(value));
    }

    throw MakeArgumentError(name, *text, allowed);
  }

  // Whether the argument is there, alone or as "true". Throws SettingError if it is anything
  // but that or "false".
  bool GetFlag(const RestRequest& request, const std::string& name);

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
