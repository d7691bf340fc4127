// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/QueryArguments.h"

#include <charconv>

namespace OrthancPerf
{
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


  std::optional<std::uint64_t> GetInteger(const RestRequest& request, const std::string& name,
                                          std::uint64_t maximum)
  {
    const std::optional<std::string> text = GetArgument(request, name);

    if (!text)
    {
      return std::nullopt;
    }

    std::uint64_t number = 0;
    const char* const end = text->data() + text->size();
    const std::from_chars_result result = std::from_chars(text->data(), end, number);

    if (result.ec != std::errc() || result.ptr != end || number > maximum)
    {
      throw MakeArgumentError(name, *text, "an integer from 0 to " + std::to_string(maximum));
    }

    return number;
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
