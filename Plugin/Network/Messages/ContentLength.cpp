// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/ContentLength.h"

#include <algorithm>
#include <charconv>
#include <system_error>

namespace OrthancPerf
{
  std::optional<std::uint64_t> ParseContentLength(std::string_view text) noexcept
  {
    text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));

    if (!text.empty() && text.front() == '+')
    {
      text.remove_prefix(1);
    }

    std::uint64_t length = 0;
    const std::from_chars_result result =
        std::from_chars(text.data(), text.data() + text.size(), length);
    return result.ec == std::errc() ? std::optional<std::uint64_t>(length) : std::nullopt;
  }
}
