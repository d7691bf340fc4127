// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <gdcmDataElement.h>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // How GDCM's codecs take and give bytes. GDCM pads all to an even
  // length. They throw std::length_error if there are more than it can count.

  gdcm::DataElement MakeFragment(const std::string& frame);  // encapsulated: one fragment
  gdcm::DataElement MakeBytes(std::string_view frame);       // native

  std::string GetFragment(const gdcm::DataElement& element);  // the only one there is

  // Throws CodecError if there are not "size" bytes, besides padding
  std::string GetBytes(const gdcm::DataElement& element, std::size_t size);
}
