// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/BasicCredentials.h"

#include <cstdint>

namespace OrthancPerf
{
  namespace
  {
    // RFC 4648 section 4, up to the first character that is none of its alphabet
    std::string DecodeBase64(const std::string& text)
    {
      const std::string alphabet =
          "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
      std::string decoded;
      std::uint32_t bits = 0;
      unsigned int count = 0;

      for (const char c : text)
      {
        const std::size_t digit = alphabet.find(c);

        if (digit == std::string::npos)
        {
          break;
        }

        bits = (bits << 6) | static_cast<std::uint32_t>(digit);
        count += 6;

        if (count >= 8)
        {
          count -= 8;
          decoded += static_cast<char>((bits >> count) & 0xff);
        }
      }

      return decoded;
    }
  }


  BasicCredentials ReadBasicCredentials(const std::string& authorization)
  {
    // Orthanc, too, takes it in these letters only (GetAuthenticatedUsername in HttpServer.cpp)
    const std::string scheme = "Basic ";

    if (authorization.compare(0, scheme.size(), scheme) != 0)
    {
      return {};
    }

    const std::string credentials = DecodeBase64(authorization.substr(scheme.size()));
    const std::size_t colon = credentials.find(':');

    if (colon == std::string::npos)
    {
      return {};
    }

    return {credentials.substr(0, colon), credentials.substr(colon + 1)};
  }
}
