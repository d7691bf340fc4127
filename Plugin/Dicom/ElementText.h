// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetWalker.h"
#include "Dicom/InstanceHasher.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace OrthancPerf
{
  // A unique identifier (DICOM PS3.5 section 9: at most 64 characters) without its padding and
  // with a final zero; longer ones are cut. As received: it may hold any other byte.
  constexpr std::size_t MAXIMUM_UID_LENGTH = 64;
  using UidText = std::array<char, MAXIMUM_UID_LENGTH + 1>;


  // Whether it has a value that DCMTK takes for a text: of a VR of text, or of implicit VR
  bool IsText(const DataElement& element) noexcept;

  // Whether that text is a UID; of implicit VR, all but Patient ID are taken for one
  bool IsUid(const DataElement& element) noexcept;


  // The text as DCMTK gives it to Orthanc: up to the first zero; of a UID no white space
  // (DcmUniqueIdentifier::makeMachineByteString), of other texts no spaces at the end. Points into
  // the walked bytes, and allocates nothing.
  class ElementText
  {
  public:
    // The element has a value
    explicit ElementText(const DataElement& element) noexcept;

    std::size_t GetLength() const noexcept;
    void HashTo(InstanceHasher& hasher) const noexcept;
    void CopyTo(UidText& target) const noexcept;

  private:
    const bool isUid_;
    std::string_view text_;
  };
}
