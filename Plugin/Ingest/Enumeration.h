// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What enumerations have in common whose values are 0 to COUNT - 1, and whose labels ToLabel()
  // gives. Headers give these functions the names that callers use:
  //
  //   constexpr auto GetAllPhases = ListAll<Phase, PHASE_COUNT>;

  // All values, in their order
  template <typename Enum, std::size_t COUNT>
  constexpr std::array<Enum, COUNT> ListAll()
  {
    std::array<Enum, COUNT> all = {};

    for (std::size_t i = 0; i < COUNT; i++)
    {
      all[i] = static_cast<Enum>(i);
    }

    return all;
  }

  // Nothing if no value has this label
  template <typename Enum, std::size_t COUNT>
  std::optional<Enum> ParseLabel(const std::string& label)
  {
    for (const Enum value : ListAll<Enum, COUNT>())
    {
      if (label == ToLabel(value))
      {
        return value;
      }
    }

    return std::nullopt;
  }
}
