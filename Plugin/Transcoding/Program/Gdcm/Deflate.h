// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // RFC 1951 without any header, as DICOM PS3.5 section A.5 has it. GDCM would do it as well, but
  // without a limit to what a few bytes become. They throw CodecError.

  std::string Deflate(std::string_view bytes);

  // At most "limit" bytes; what follows the stream, padding, is left out
  std::string Inflate(std::string_view bytes, std::size_t limit);
}
