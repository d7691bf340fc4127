// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DataElement.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace OrthancPerf
{
  namespace
  {
    // VRs that are alike, and their names one after the other
    struct Group
    {
      std::string_view names;
      ValueRepresentation representation;
    };

    constexpr bool SHORT = false;
    constexpr bool LONG = true;

    constexpr Group STANDARD[] = {
        {"AE AS CS DA DS DT IS LO LT PN SH ST TM", {ValueKind::Text, SHORT, true}},
        {"UI", {ValueKind::Uid, SHORT, true}},
        {"AT FD FL SL SS UL US", {ValueKind::Binary, SHORT, true}},
        {"UC UR UT", {ValueKind::Text, LONG, true}},
        {"OB OD OF OL OV OW SV UV", {ValueKind::Binary, LONG, true}},
        {"SQ", {ValueKind::Sequence, LONG, true}},
        {"UN", {ValueKind::Unknown, LONG, true}},
    };

    constexpr std::size_t LETTERS = 26;

    // A table of all pairs of capitals is what makes reading fast
    constexpr auto MakeTable()
    {
      std::array<ValueRepresentation, LETTERS* LETTERS> table = {};

      for (ValueRepresentation& representation : table)
      {
        representation = {ValueKind::Unknown, LONG, false};
      }

      for (const Group& group : STANDARD)
      {
        for (std::size_t i = 0; i < group.names.size(); i += 3)
        {
          table[(group.names[i] - 'A') * LETTERS + (group.names[i + 1] - 'A')] =
              group.representation;
        }
      }

      return table;
    }

    constexpr auto TABLE = MakeTable();

    constexpr bool IsCapital(char character)
    {
      return character >= 'A' && character <= 'Z';
    }
  }

  ValueRepresentation GetValueRepresentation(char first, char second) noexcept
  {
    return IsCapital(first) && IsCapital(second)
               ? TABLE[(first - 'A') * LETTERS + (second - 'A')]
               : ValueRepresentation{ValueKind::Illegal, SHORT, false};
  }

  std::string_view DataElement::GetText() const noexcept
  {
    const std::string_view value = GetValue();
    return value.substr(0, value.find_last_not_of(std::string_view(" \0", 2)) + 1);
  }

  std::uint16_t DataElement::GetUnsignedShort(const DicomEncoding& encoding) const noexcept
  {
    const std::string_view value = GetValue();
    const auto little = value.size() < 2 ? std::uint16_t(0) : ReadLittle<std::uint16_t>(value);
    return encoding.isBigEndian ? boost::endian::endian_reverse(little) : little;
  }
}
