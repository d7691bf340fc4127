// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ValueRepresentation.h"

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
        {"AE AS CS DA DS DT IS LO LT PN SH ST TM", {ValueKind::Text, 0, SHORT, true}},
        {"UI", {ValueKind::Uid, 0, SHORT, true}},
        {"SS US", {ValueKind::Number, 2, SHORT, true}},
        {"AT FL SL UL", {ValueKind::Number, 4, SHORT, true}},
        {"FD", {ValueKind::Number, 8, SHORT, true}},
        {"UC UR UT", {ValueKind::Text, 0, LONG, true}},
        {"OB OW", {ValueKind::Bytes, 0, LONG, true}},
        {"OD OF OL OV SV UV", {ValueKind::Opaque, 0, LONG, true}},
        {"SQ", {ValueKind::Sequence, 0, LONG, true}},
        {"UN", {ValueKind::Unknown, 0, LONG, true}},
    };

    // DCMTK's internal VRs (dcvr.cc), which it understands in a file too
    constexpr Group INTERNAL[] = {
        {"ox", {ValueKind::Bytes, 0, LONG, false}},
        {"px", {ValueKind::Pixels, 0, LONG, false}},
        {"lt", {ValueKind::Opaque, 0, LONG, false}},
        {"xs up", {ValueKind::Opaque, 0, SHORT, false}},
        {"na pi", {ValueKind::Illegal, 0, SHORT, false}},
    };

    constexpr bool IsCapital(std::uint8_t character)
    {
      return character >= 'A' && character <= 'Z';
    }

    template <std::size_t count>
    constexpr ValueRepresentation Lookup(const Group (&groups)[count], std::uint8_t first,
                                         std::uint8_t second, ValueRepresentation none)
    {
      for (const Group& group : groups)
      {
        for (std::size_t i = 0; i < group.names.size(); i += 3)
        {
          if (group.names[i] == static_cast<char>(first) &&
              group.names[i + 1] == static_cast<char>(second))
          {
            return group.representation;
          }
        }
      }

      return none;
    }

    // Every VR of the standard is two capitals: a table of them is what makes the walk fast
    constexpr std::size_t LETTERS = 26;
    using Table = std::array<ValueRepresentation, LETTERS * LETTERS>;

    constexpr Table MakeTable()
    {
      Table table = {};

      for (std::size_t i = 0; i < table.size(); i++)
      {
        table[i] = Lookup(STANDARD, static_cast<std::uint8_t>('A' + i / LETTERS),
                          static_cast<std::uint8_t>('A' + i % LETTERS),
                          {ValueKind::Unknown, 0, LONG, false});
      }

      return table;
    }

    constexpr Table TABLE = MakeTable();
  }

  ValueRepresentation GetValueRepresentation(std::uint8_t first, std::uint8_t second) noexcept
  {
    if (IsCapital(first) && IsCapital(second))
    {
      return TABLE[(first - std::size_t('A')) * LETTERS + (second - std::size_t('A'))];
    }

    return Lookup(INTERNAL, first, second, {ValueKind::Unknown, 0, SHORT, false});
  }
}
