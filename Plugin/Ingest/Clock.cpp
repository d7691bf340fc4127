// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Clock.h"

#include <array>
#include <charconv>
#include <ctime>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* FORMAT = "%Y%m%dT%H%M%S";
    constexpr std::size_t LENGTH = 15;    // of that
    constexpr std::size_t FRACTION = 16;  // where the six digits of the microseconds begin
  }

  std::string FormatMoment(std::chrono::system_clock::time_point moment)
  {
    const auto seconds = std::chrono::floor<std::chrono::seconds>(moment);
    const auto fraction = std::chrono::floor<std::chrono::microseconds>(moment - seconds);
    const std::time_t time = std::chrono::system_clock::to_time_t(seconds);

    std::tm utc = {};
    gmtime_r(&time, &utc);

    std::array<char, 32> text = {};
    const std::size_t length = std::strftime(text.data(), text.size(), FORMAT, &utc);
    return std::string(text.data(), length) + "." +
           std::to_string(1000000 + fraction.count()).substr(1);
  }

  std::optional<std::chrono::system_clock::time_point> ParseMoment(const std::string& text)
  {
    using std::chrono::system_clock;
    constexpr std::chrono::hours LATEST =
        std::chrono::duration_cast<std::chrono::hours>(system_clock::duration::max());

    const std::string whole = text.size() == LENGTH ? text + ".000000" : text;
    std::tm utc = {};

    if (whole.size() != FRACTION + 6 || strptime(whole.c_str(), FORMAT, &utc) == nullptr)
    {
      return std::nullopt;
    }

    const std::chrono::seconds seconds(timegm(&utc));
    unsigned int micros = 0;
    std::from_chars(whole.data() + FRACTION, whole.data() + whole.size(), micros);

    if (seconds < std::chrono::seconds(0) || seconds >= LATEST)
    {
      return std::nullopt;
    }

    // strptime takes blanks, missing zeros and a 60th second as well
    const system_clock::time_point moment(seconds + std::chrono::microseconds(micros));
    return FormatMoment(moment) == whole ? std::make_optional(moment) : std::nullopt;
  }
}
