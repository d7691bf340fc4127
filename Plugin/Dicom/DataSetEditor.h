// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // Why a file can't be edited, in words without patient data
  class DataSetError : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };


  // Sets, replaces and removes elements of the outermost level of a DICOM file whose data set is in
  // Explicit VR Little Endian; its Pixel Data may be native or encapsulated (DICOM PS3.5 section
  // A.4). All other elements, nested, private and unknown ones, are copied byte for byte.
  //
  // Lives on the stack of one thread. The file may hold anything: memory stays within a small
  // multiple of its size, and work within the bounds of ReadDataSet().
  class DataSetEditor
  {
  public:
    using Element = DataElement;

    // The file has to outlive the editor, and what it gives of the elements. Throws DataSetError if
    // this is no DICOM file, if it is not well-formed, or if it is not in Explicit VR Little
    // Endian: with compressed syntaxes of PS3.5 section A.4 it is, with deflated it is not.
    explicit DataSetEditor(const ReceivedFile& file);
    DataSetEditor(const void* data, std::size_t size);

    DataSetEditor(const DataSetEditor&) = delete;
    DataSetEditor& operator=(const DataSetEditor&) = delete;

    // The first element of that tag, nullptr if there is none. Group 0002 is in the File Meta
    // Information, here and below. Valid until the next change.
    const Element* Find(DicomTag tag) const noexcept;

    // The value without its padding: spaces and zeros at its end. Empty if there is none.
    std::string_view GetText(DicomTag tag) const noexcept;

    // All elements of the data set, in the order of the file
    const std::vector<Element>& GetElements() const noexcept
    {
      return dataSet_;
    }

    // Sets an element, in place of all that have its tag, or else where the order of tags wants it.
    // The value is given without padding; that of a sequence ("SQ") is made of items of
    // ElementWriter.h. Throws std::length_error if it is too long for its VR.
    void Set(DicomTag tag, std::string_view representation, std::string_view value);

    // The same for a whole element as ElementWriter.h makes it: a sequence or encapsulated Pixel
    // Data whose items end with a delimiter
    void SetEncoded(DicomTag tag, std::string element);

    void Remove(DicomTag tag);

    // The length of a group, (gggg,0000), was retired in 2008, and is wrong once the group changes:
    // these changes drop that of their group, and this one drops all.
    void RemoveGroupLengths();

    // The new file: preamble (after a change, unless it is a TIFF header), File Meta Information
    // with its new length, data set
    std::string Write() const;

  private:
    using Elements = std::vector<Element>;

    const Elements& GetGroup(DicomTag tag) const noexcept;
    Elements& GetGroup(DicomTag tag) noexcept;
    void Replace(DicomTag tag, std::string bytes, std::size_t valueOffset);

    std::string_view preamble_;
    bool isChanged_ = false;
    Elements fileMeta_;  // without its length
    Elements dataSet_;
    std::deque<std::string> added_;  // the bytes of elements that were set
  };
}
