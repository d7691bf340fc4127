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
    Uid,  // text from which white space is dropped
    Number,
    Bytes,    // OB and OW: fragments under Pixel Data, never of undefined length elsewhere
    Unknown,  // UN, and VRs that do not exist yet: a sequence if the length is undefined
    Opaque,   // wide binary numbers, which Orthanc never shows
    Pixels,   // DCMTK's internal VR of Pixel Data
    Sequence,
    Illegal  // names that DCMTK keeps for itself and refuses in a file
  };

  // A value representation (DICOM PS3.5 section 6.2), with DCMTK's tolerance for names that are
  // none: two capitals are a VR of the future, anything else has a short length (dcmdata's
  // DcmVR::setVR). A value.
  struct ValueRepresentation
  {
    ValueKind kind = ValueKind::Unspecified;
    std::uint8_t width = 0;      // bytes of one number; 0 for other kinds
    bool hasLongLength = false;  // 32-bit length after two reserved bytes: PS3.5 section 7.1.2
    bool isStandard = false;     // defined by the standard
  };

  // The VR that these two characters name
  ValueRepresentation GetValueRepresentation(std::uint8_t first, std::uint8_t second) noexcept;
}
