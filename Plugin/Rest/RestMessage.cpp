// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestMessage.h"

#include "Tuning/SettingError.h"

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

    bool Accepts(const std::map<std::string, std::string>& headers, const char* type)
    {
      const auto accept = headers.find("accept");
      return accept != headers.end() && accept->second.find(type) != std::string::npos;
    }

    Json::Value MakeErrorBody(const std::string& message)
    {
      Json::Value body;
      body["Error"] = message;
      return body;
    }
  }

  const char* ToText(HttpMethod method)
  {
    switch (method)
    {
      case HttpMethod::Get:
        return "GET";

      case HttpMethod::Post:
        return "POST";

      case HttpMethod::Put:
        return "PUT";

      default:
        return "DELETE";
    }
  }

  bool RestRequest::AcceptsJson() const
  {
    return Accepts(headers, "application/json");
  }

  bool RestRequest::AcceptsHtml() const
  {
    return Accepts(headers, "text/html");
  }

  RestAnswer AnswerJson(const Json::Value& value, int status)
  {
    return {status, "application/json", Write(value, "  ", 9)};
  }

  RestAnswer AnswerCompactJson(const Json::Value& value)
  {
    return {200, "application/json", Write(value, "", 6)};
  }

  RestAnswer AnswerText(const std::string& text, const std::string& contentType)
  {
    return {200, contentType, text};
  }

  RestError::RestError(int status, const std::string& message) :
    RestError(status, message, MakeErrorBody(message))
  {
  }


  RestError RestError::WithBody(int status, const Json::Value& body)
  {
    return RestError(status, body["Error"].asString(), body);
  }


  RestError::RestError(int status, const std::string& message, const Json::Value& body) :
    std::runtime_error(message),
    status_(status),
    body_(body)
  {
  }


  RestError MakeArgumentError(const std::string& name, const std::string& found,
                              const std::string& allowed)
  {
    Json::Value body = MakeErrorBody("Bad value of the argument \"" + name + "\"");
    body["Key"] = name;
    body["Found"] = DescribeText(found);
    body["Allowed"] = allowed;
    return RestError::WithBody(400, body);
  }
}
