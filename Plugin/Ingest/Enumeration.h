// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // The labels of an enumeration whose values are 0 to COUNT - 1, in their order. A header gives
  // them and names what callers use:
  //
  //   template <>
  //   inline constexpr std::array LABELS<Direction> = {"receive", "send"};
  //   constexpr auto GetAllDirections = ListAll<Direction>;
  template <typename Enum>
  inline constexpr std::array<const char*, 0> LABELS;

  template <typename Enum>
  constexpr const char* ToLabel(Enum value)
  {
    return LABELS<Enum>.at(static_cast<std::size_t>(value));
  }

  // All values, in their order
  template <typename Enum>
  constexpr auto ListAll()
  {
    std::array<Enum, LABELS<Enum>.size()> all = {};

    for (std::size_t i = 0; i < all.size(); i++)
    {
      all[i] = static_cast<Enum>(i);
    }

    return all;
  }

  // Nothing if no value has this label
  template <typename Enum>
  std::optional<Enum> ParseLabel(const std::string& label)
  {
    for (const Enum value : ListAll<Enum>())
    {
      if (label == ToLabel(value))
      {
        return value;
      }
    }

    return std::nullopt;
  }
}
