// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetWalker.h"
#include "Dicom/ElementText.h"
#include "Dicom/TransferSyntax.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Preamble and prefix, "DICM": DICOM PS3.10 section 7.1
  constexpr std::size_t FILE_PREFIX_LENGTH = 132;

  bool HasFilePrefix(const void* data, std::size_t size) noexcept;

  // The preamble of a file may be the header of a TIFF (DICOM PS3.10 section 7.1), whose offsets
  // point at the pixels: wrong once they have moved. Fills such a preamble with zeros, in the bytes
  // of a whole file.
  void ClearTiffPreamble(std::string& file) noexcept;


  // How the data set of a DICOM file is encoded, and how far it could be read. A value.
  struct DicomFileWalk
  {
    UidText mediaStorageSopInstanceUid = {};  // empty: not found
    UidText transferSyntax = {};              // empty: the file does not name one
    const TransferSyntax* syntax = nullptr;   // null: unknown
    DicomEncoding encoding;
    bool hasDataSet = false;  // the File Meta Information was read to its end
    bool isDeflated = false;  // then no element of the data set was shown
    WalkResult result = WalkResult::Malformed;
    bool hasUnorderedElements = false;  // see DataSetWalker

    // What was not looked at: a deflated data set, or what stands behind the data set's end, a
    // delimiter among the outermost elements, where DCMTK reads no further
    std::string_view rest;
  };

  // Shows the visitor the data set: its outermost elements, and what is nested. No allocation,
  // bounded work (DataSetWalker), whatever the bytes are; any thread may call it.
  DicomFileWalk WalkDicomFile(const void* data, std::size_t size,
                              IDataElementVisitor& visitor) noexcept;

  // The value of a text without spaces and zeros around it. Points into the walked bytes.
  std::string_view GetText(const DataElement& element) noexcept;

  // The first number of a US value; zero if there is none
  std::uint16_t GetUnsignedShort(const DataElement& element,
                                 const DicomEncoding& encoding) noexcept;
}
