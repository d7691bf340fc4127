// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestRouter.h"

#include <boost/algorithm/string/predicate.hpp>
#include <boost/archive/iterators/binary_from_base64.hpp>
#include <boost/archive/iterators/transform_width.hpp>

#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    std::string Write(const Json::Value& value, const char* indentation, unsigned int precision)
    {
      Json::StreamWriterBuilder builder;
      builder["indentation"] = indentation;
      builder["precision"] = precision;
      return Json::writeString(builder, value) + "\n";
    }

    // Nothing if it is none (RFC 4648 section 4)
    std::string DecodeBase64(std::string text)
    {
      using namespace boost::archive::iterators;
      using Decoder = transform_width<binary_from_base64<std::string::const_iterator>, 8, 6>;
      text.erase(text.find_last_not_of('=') + 1);
      text.resize((text.size() + 3) / 4 * 4, 'A');  // zeros, which the decoder may read

      try
      {
        return {Decoder(text.cbegin()), Decoder(text.cend())};
      }
      catch (const dataflow_exception&)
      {
        return {};
      }
    }

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

  const char* ToText(HttpMethod method)
  {
    constexpr std::array NAMES = {"GET", "POST", "PUT", "DELETE"};
    return NAMES.at(static_cast<std::size_t>(method) - 1);
  }

  std::optional<std::string> RestRequest::GetHeader(const std::string& key) const
  {
    const auto header = headers.find(key);
    return header == headers.end() ? std::nullopt : std::optional<std::string>(header->second);
  }

  std::string RestRequest::GetUser() const
  {
    const std::string scheme = "Basic ";
    const std::string header = GetHeader("authorization").value_or("");

    if (address.empty() || !boost::algorithm::istarts_with(header, scheme))
    {
      return {};
    }

    const std::string credentials = DecodeBase64(header.substr(scheme.size()));
    const std::size_t colon = credentials.find(':');
    return colon == std::string::npos ? std::string() : credentials.substr(0, colon);
  }

  RestAnswer AnswerJson(const Json::Value& value, int status)
  {
    return {status, "application/json", Write(value, "  ", 9)};
  }

  RestAnswer AnswerCompactJson(const Json::Value& value)
  {
    return {200, "application/json", Write(value, "", 6)};
  }

  RestError::RestError(int status, const std::string& message, Json::Value details) :
    std::runtime_error(message),
    status_(status),
    details_(std::move(details))
  {
  }

  RestAnswer RestError::ToAnswer() const
  {
    Json::Value body = details_;
    body["Message"] = what();
    body["HttpStatus"] = status_;
    return AnswerJson(body, status_);
  }

  SettingError MakeArgumentError(const std::string& name, const std::string& found,
                                 const std::string& allowed)
  {
    return SettingError("Bad value of the argument \"" + name + "\"", name, DescribeText(found),
                        allowed);
  }

  std::string DecodeQuery(const std::string& text)
  {
    std::string decoded;
    std::size_t i = 0;

    while (i < text.size())
    {
      unsigned char byte = 0;
      const char* const digits = text.data() + i + 1;

      if (text[i] == '%' && i + 2 < text.size() &&
          std::from_chars(digits, digits + 2, byte, 16).ptr == digits + 2)
      {
        decoded += static_cast<char>(byte);
        i += 3;
      }
      else
      {
        decoded += text[i] == '+' ? ' ' : text[i];
        i++;
      }
    }

    return decoded;
  }

  std::optional<std::string> GetArgument(const RestRequest& request, const std::string& name)
  {
    const auto argument = request.arguments.find(name);
    return argument == request.arguments.end() ? std::nullopt
                                               : std::optional<std::string>(argument->second);
  }

  std::size_t GetLimit(const RestRequest& request)
  {
    constexpr std::uint32_t DEFAULT_LIMIT = 100;
    const std::string text = GetArgument(request, "limit").value_or(std::to_string(DEFAULT_LIMIT));
    const char* const end = text.data() + text.size();
    std::uint32_t limit = 0;
    const std::from_chars_result result = std::from_chars(text.data(), end, limit);

    if (result.ec != std::errc() || result.ptr != end)
    {
      throw MakeArgumentError("limit", text,
                              "an integer from 0 to " +
                                  std::to_string(std::numeric_limits<std::uint32_t>::max()));
    }

    return limit;
  }

  bool GetFlag(const RestRequest& request, const std::string& name)
  {
    const std::string text = GetArgument(request, name).value_or("false");

    if (!text.empty() && text != "true" && text != "false")
    {
      throw MakeArgumentError(name, text, "nothing, true or false");
    }

    return text != "false";
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
