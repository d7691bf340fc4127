// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ElementWriter.h"

#include <limits>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    // DICOM PS3.5 section 6.2: spaces after text, a zero after all else
    char GetPadding(const ValueRepresentation& representation)
    {
      return representation.kind == ValueKind::Text ? ' ' : '\0';
    }

    ValueRepresentation Parse(std::string_view representation)
    {
      if (representation.size() != 2)
      {
        throw std::invalid_argument("A value representation has two letters");
      }

      return GetValueRepresentation(representation[0], representation[1]);
    }

    void AppendTag(std::string& target, DicomTag tag)
    {
      AppendInteger(target, tag >> 16, 2);
      AppendInteger(target, tag & 0xffff, 2);
    }

    void AppendItemHeader(std::string& target, DicomTag tag, std::size_t length)
    {
      if (length >= UNDEFINED_LENGTH)
      {
        throw std::length_error("An item is too long");
      }

      AppendTag(target, tag);
      AppendInteger(target, length, 4);
    }

    void AppendPadded(std::string& target, std::string_view content, char padding)
    {
      target.append(content);
      target.append(content.size() % 2, padding);
    }
  }


  void AppendInteger(std::string& target, std::uint64_t value, std::size_t size)
  {
    for (std::size_t i = 0; i < size; i++)
    {
      target.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
  }


  void AppendElement(std::string& target, DicomTag tag, std::string_view representation,
                     std::string_view value)
  {
    const ValueRepresentation parsed = Parse(representation);
    const std::size_t length = value.size() + value.size() % 2;

    if (length >= UNDEFINED_LENGTH ||
        (!parsed.hasLongLength && length > std::numeric_limits<std::uint16_t>::max()))
    {
      throw std::length_error("A value is too long for its value representation");
    }

    AppendTag(target, tag);
    target.append(representation);
    AppendInteger(target, 0, parsed.hasLongLength ? 2 : 0);
    AppendInteger(target, length, parsed.hasLongLength ? 4 : 2);
    AppendPadded(target, value, GetPadding(parsed));
  }


  void AppendUndefinedLength(std::string& target, DicomTag tag, std::string_view representation)
  {
    if (!Parse(representation).hasLongLength)
    {
      throw std::invalid_argument("This value representation has no undefined length");
    }

    AppendTag(target, tag);
    target.append(representation);
    AppendInteger(target, 0, 2);
    AppendInteger(target, UNDEFINED_LENGTH, 4);
  }


  void AppendItem(std::string& target, std::string_view content)
  {
    AppendItemHeader(target, TAG_ITEM, content.size() + content.size() % 2);
    AppendPadded(target, content, '\0');
  }


  void AppendSequenceDelimitation(std::string& target)
  {
    AppendItemHeader(target, TAG_SEQUENCE_DELIMITATION, 0);
  }
}
