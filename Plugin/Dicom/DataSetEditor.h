// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // Sets, replaces and removes elements of the outermost level of a DICOM file whose data set is in
  // Explicit VR Little Endian; its Pixel Data may be native or encapsulated (DICOM PS3.5 section
  // A.4). All other elements, nested, private and unknown ones, are copied byte for byte.
  //
  //   DataSetEditor editor(file);
  //   editor.Set(TAG_SOP_INSTANCE_UID, "UI", "2.25.1");
  //   const std::string edited = editor.Write();
  //
  // Lives on the stack of one thread. The file may hold anything: memory stays within a small
  // multiple of its size, and work within the bounds of ReadDataSet().
  class DataSetEditor
  {
  public:
    // The bytes of the file outlive the editor, and what it gives of the elements. Throws
    // CodecError if the file is not well-formed, or not in Explicit VR Little Endian: with
    // compressed syntaxes of PS3.5 section A.4 it is, with the deflated one it is not.
    explicit DataSetEditor(const ReceivedFile& file);

    DataSetEditor(const DataSetEditor&) = delete;
    DataSetEditor& operator=(const DataSetEditor&) = delete;

    // The first element of that tag, nullptr if there is none. Group 0002 is in the File Meta
    // Information, here and below. Valid until the next change.
    const DataElement* Find(DicomTag tag) const noexcept;

    // Sets an element, in place of all that have its tag, or else where the order of tags wants it.
    // The value is given without padding; that of a sequence ("SQ") is made of items of
    // ElementWriter.h. Throws std::length_error if it is too long for its VR.
    void Set(DicomTag tag, std::string_view representation, std::string_view value);

    // The same for a whole element as ElementWriter.h makes it: a sequence or encapsulated Pixel
    // Data whose items end with a delimiter
    void SetEncoded(DicomTag tag, std::string element);

    // These changes drop the length of the group, (gggg,0000), which was retired in 2008, and would
    // be wrong
    void Remove(DicomTag tag);

    // The new file: preamble (unless it is a TIFF header), File Meta Information with its new
    // length, data set
    std::string Write() const;

  private:
    void Replace(DicomTag tag, std::string bytes, std::size_t valueOffset);

    std::string_view preamble_;
    std::vector<DataElement> elements_;  // of the file meta, without its length, and the data set
    std::deque<std::string> added_;      // the bytes of elements that were set
  };
}
