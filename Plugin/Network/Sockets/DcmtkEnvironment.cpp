// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/DcmtkEnvironment.h"

#include <cstdlib>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint32_t LENGTH_FOR_ZERO = 65536;  // what DCMTK takes TCP_BUFFER_LENGTH=0 for


    // As sscanf("%d"), which DCMTK uses: a number at the start, nothing if there is none
    std::optional<long> ParseNumber(const char* text)
    {
      if (text == nullptr)
      {
        return std::nullopt;
      }

      char* end = nullptr;
      const long number = std::strtol(text, &end, 10);
      return end == text ? std::nullopt : std::optional<long>(number);
    }
  }


  DcmtkEnvironment DcmtkEnvironment::Read()
  {
    return Parse(std::getenv("TCP_NODELAY"), std::getenv("TCP_BUFFER_LENGTH"));
  }


  DcmtkEnvironment DcmtkEnvironment::Parse(const char* noDelay, const char* bufferLength)
  {
    DcmtkEnvironment environment;
    environment.noDelay = ParseNumber(noDelay).value_or(0) != 0;

    if (const std::optional<long> length = ParseNumber(bufferLength))
    {
      environment.bufferLength =
          *length == 0 ? LENGTH_FOR_ZERO : static_cast<std::uint32_t>(*length);
    }

    return environment;
  }
}
