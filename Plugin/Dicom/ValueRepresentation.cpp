// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ValueRepresentation.h"

#include <array>
#include <cstddef>

namespace OrthancPerf
{
  namespace
  {
    constexpr unsigned int ToCode(std::uint8_t first, std::uint8_t second)
    {
      return static_cast<unsigned int>(first) << 8 | second;
    }

    constexpr ValueRepresentation Short(ValueKind kind, std::uint8_t width = 0)
    {
      return {kind, width, false, true};
    }

    constexpr ValueRepresentation Long(ValueKind kind)
    {
      return {kind, 0, true, true};
    }

    constexpr bool IsCapital(std::uint8_t character)
    {
      return character >= 'A' && character <= 'Z';
    }

    // Every VR of the standard is two capitals: a table of them is what makes the walk fast
    constexpr ValueRepresentation Lookup(std::uint8_t first, std::uint8_t second)
    {
      switch (ToCode(first, second))
      {
        case ToCode('A', 'E'):
        case ToCode('A', 'S'):
        case ToCode('C', 'S'):
        case ToCode('D', 'A'):
        case ToCode('D', 'S'):
        case ToCode('D', 'T'):
        case ToCode('I', 'S'):
        case ToCode('L', 'O'):
        case ToCode('L', 'T'):
        case ToCode('P', 'N'):
        case ToCode('S', 'H'):
        case ToCode('S', 'T'):
        case ToCode('T', 'M'):
          return Short(ValueKind::Text);

        case ToCode('U', 'I'):
          return Short(ValueKind::Uid);

        case ToCode('S', 'S'):
        case ToCode('U', 'S'):
          return Short(ValueKind::Number, 2);

        case ToCode('A', 'T'):
        case ToCode('F', 'L'):
        case ToCode('S', 'L'):
        case ToCode('U', 'L'):
          return Short(ValueKind::Number, 4);

        case ToCode('F', 'D'):
          return Short(ValueKind::Number, 8);

        case ToCode('U', 'C'):
        case ToCode('U', 'R'):
        case ToCode('U', 'T'):
          return Long(ValueKind::Text);

        case ToCode('O', 'B'):
        case ToCode('O', 'W'):
          return Long(ValueKind::Bytes);

        case ToCode('O', 'D'):
        case ToCode('O', 'F'):
        case ToCode('O', 'L'):
        case ToCode('O', 'V'):
        case ToCode('S', 'V'):
        case ToCode('U', 'V'):
          return Long(ValueKind::Opaque);

        case ToCode('S', 'Q'):
          return Long(ValueKind::Sequence);

        case ToCode('U', 'N'):
          return Long(ValueKind::Unknown);

        // DCMTK's internal VRs (dcvr.cc), which it understands in a file too
        case ToCode('o', 'x'):
          return {ValueKind::Bytes, 0, true, false};
        case ToCode('p', 'x'):
          return {ValueKind::Pixels, 0, true, false};
        case ToCode('l', 't'):
          return {ValueKind::Opaque, 0, true, false};
        case ToCode('x', 's'):
        case ToCode('u', 'p'):
          return {ValueKind::Opaque, 0, false, false};
        case ToCode('n', 'a'):
        case ToCode('p', 'i'):
          return {ValueKind::Illegal, 0, false, false};

        default:
          return {ValueKind::Unknown, 0, IsCapital(first) && IsCapital(second), false};
      }
    }

    constexpr std::size_t LETTERS = 26;
    using Table = std::array<ValueRepresentation, LETTERS * LETTERS>;

    constexpr Table MakeTable()
    {
      Table table = {};

      for (std::size_t i = 0; i < table.size(); i++)
      {
        table[i] = Lookup(static_cast<std::uint8_t>('A' + i / LETTERS),
                          static_cast<std::uint8_t>('A' + i % LETTERS));
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

    return Lookup(first, second);
  }
}
