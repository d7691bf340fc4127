// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetWalker.h"
#include "Dicom/DicomFile.h"
#include "Dicom/TransferSyntax.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace OrthancPerf
{
  // How the data set of a DICOM file is encoded, and how far it could be read. A value.
  struct DicomFileWalk
  {
    UidText transferSyntax = {};  // empty: the file does not name one
    DicomEncoding encoding;
    bool isDeflated = false;  // then no element of the data set was shown
    WalkResult result = WalkResult::Malformed;
  };

  // Shows the visitor the outermost elements of the File Meta Information and of the data set. No
  // allocation, bounded work (DataSetWalker), whatever the bytes are; any thread may call it.
  DicomFileWalk WalkDicomFile(const void* data, std::size_t size,
                              IDataElementVisitor& visitor) noexcept;

  // The value of a text without spaces and zeros around it. Points into the walked bytes.
  std::string_view GetText(const DataElement& element) noexcept;

  // The first number of a US value; zero if there is none
  std::uint16_t GetUnsignedShort(const DataElement& element,
                                 const DicomEncoding& encoding) noexcept;
}
