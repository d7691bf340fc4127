// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstdint>

namespace OrthancPerf
{
  // What the value of a data element is made of, as far as reading past it needs
  enum class ValueKind : std::uint8_t
  {
    Unspecified,  // implicit VR: only a data dictionary would know
    Text,
    Uid,
    Binary,
    Unknown,  // UN, and VRs that do not exist yet: a sequence if the length is undefined
    Sequence,
    Illegal  // no name of a VR
  };

  // A value representation: DICOM PS3.5 section 6.2. Two capitals that it does not define are one
  // of the future. A value.
  struct ValueRepresentation
  {
    ValueKind kind = ValueKind::Unspecified;
    bool hasLongLength = false;  // 32-bit length after two reserved bytes: PS3.5 section 7.1.2
    bool isStandard = false;     // defined by the standard
  };

  // The VR that these two characters name
  ValueRepresentation GetValueRepresentation(char first, char second) noexcept;
}
