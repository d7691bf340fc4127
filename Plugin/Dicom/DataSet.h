// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataElement.h"

#include <cstddef>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  enum class ReadResult
  {
    Complete,
    Truncated,  // the bytes end inside an element
    Malformed,  // an element stands where none may
    TooLong     // given up: see MAXIMUM_STEPS and MAXIMUM_NESTING
  };

  // What is odd anywhere in a data set, down to the last nested item
  struct DataSetOddities
  {
    // Tags do not ascend everywhere, as DICOM PS3.5 section 7.1 demands. An element may be there
    // twice then, and programs keep one of two. Also set if that cannot be told: a private element
    // begins like a sequence, and is none to its end.
    bool hasUnorderedElements = false;

    bool hasNestedFragments = false;    // compressed pixels inside a sequence: an icon's
    bool hasDigitalSignatures = false;  // or what belongs to them
  };

  // A data set in memory: its outermost elements in the order of the file, and what was seen on the
  // way to its end, down to the last nested item. A value; it points into the bytes.
  //
  //   const DataSet dataSet = ReadDataSet(bytes, {});
  //   const DataElement* const uid = dataSet.Find(TAG_SOP_INSTANCE_UID);
  struct DataSet : DataSetOddities
  {
    // Sequences inside sequences; DCMTK's own limit, DCMTK_MAX_SEQUENCE_NESTING
    static constexpr std::size_t MAXIMUM_NESTING = 64;

    // Elements, items and fragments that are looked at: what a multi-frame object with thousands
    // of frames has, and about a millisecond
    static constexpr std::size_t MAXIMUM_STEPS = 1 << 18;

    ReadResult result = ReadResult::Malformed;
    std::vector<DataElement> elements;  // up to where reading ended

    // The first element of that tag; nullptr if there is none
    const DataElement* Find(DicomTag tag) const noexcept;
  };

  // The File Meta Information: the elements of group 0002 that "bytes" begin with, no more of them
  // than its length says. Always in Explicit VR Little Endian (DICOM PS3.10 section 7.1).
  DataSet ReadFileMeta(std::string_view bytes);

  // Reads a whole data set, strictly by DICOM PS3.5 section 7. Bounded work and memory, whatever
  // the bytes are; any thread may call it. Throws std::bad_alloc alone.
  DataSet ReadDataSet(std::string_view bytes, const DicomEncoding& encoding);
}
