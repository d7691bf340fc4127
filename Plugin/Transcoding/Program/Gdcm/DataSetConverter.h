// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Between the encodings of data sets without compressed pixels. In Explicit VR Little Endian, the
  // encoding of all compressed syntaxes too, a file can be changed in place (DataSetEditor). They
  // throw CodecError or NotCovered.

  // A file in Implicit VR, Explicit VR Big Endian or deflated, as Explicit VR Little Endian.
  // "limit": of bytes that a deflated data set may become.
  std::string ConvertToExplicit(std::string_view file, std::string_view transferSyntax,
                                std::size_t limit);

  // A file in Explicit VR Little Endian, in another syntax
  std::string ConvertFromExplicit(std::string_view file, std::string_view transferSyntax);
}
