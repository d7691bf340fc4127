// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/RestMessage.h"

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
}
