// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataElement.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Data elements in Explicit VR Little Endian, DICOM PS3.5 section 7.1.2, put at the end of
  // "target". A value of odd length gets the padding of its VR. They throw std::length_error if the
  // value is longer than the length field can say.

  void AppendInteger(std::string& target, std::uint64_t value, std::size_t size);

  // "representation" is the VR, "US", say
  void AppendElement(std::string& target, DicomTag tag, std::string_view representation,
                     std::string_view value);

  // The header of an element whose content, items, ends with a delimiter
  void AppendUndefinedLength(std::string& target, DicomTag tag, std::string_view representation);

  // An item of a sequence, holding whole elements, or a fragment of Pixel Data
  void AppendItem(std::string& target, std::string_view content);

  void AppendSequenceDelimitation(std::string& target);
}
