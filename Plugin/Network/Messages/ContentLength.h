// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace OrthancPerf
{
  // The value of this header as CivetWeb and Orthanc read it, with strtoll(3) and
  // boost::lexical_cast: RFC 9110 section 8.6 has digits only, they take a plus as well. Nothing:
  // they take none of it.
  std::optional<std::uint64_t> ParseContentLength(std::string_view text) noexcept;
}
