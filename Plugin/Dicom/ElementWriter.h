// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataElement.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Data elements in Explicit VR Little Endian, DICOM PS3.5 section 7.1.2, put at the end of
  // "target". A value of odd length gets the padding of its VR. They throw std::length_error if the
  // value is longer than the length field can say.

  void AppendInteger(std::string& target, std::uint64_t value, std::size_t size);

  // "representation" is the VR, "US", say
  void AppendElement(std::string& target, DicomTag tag, std::string_view representation,
                     std::string_view value);

  // The header of an element whose content, items, ends with a delimiter. Its VR is one with a long
  // length.
  void AppendUndefinedLength(std::string& target, DicomTag tag, std::string_view representation);

  // An item of a sequence, holding whole elements, or a fragment of Pixel Data
  void AppendItem(std::string& target, std::string_view content);

  void AppendSequenceDelimitation(std::string& target);

  // Makes the element of encapsulated Pixel Data, DICOM PS3.5 section A.4: a Basic Offset Table,
  // then one fragment for each frame. The table is left empty for one frame, which needs none.
  //
  // Lives on the stack of one thread.
  class EncapsulatedPixels
  {
  public:
    explicit EncapsulatedPixels(std::size_t frames);

    // To its end goes the next frame, between these two calls. They throw std::length_error if the
    // frames are too long for a fragment or for the table.
    std::string& BeginFrame();
    void EndFrame();

    // The whole element. Call it once, after the last frame.
    std::string Finish();

  private:
    void SetInteger(std::size_t position, std::size_t value);

    std::string element_;
    std::size_t nextOffset_;  // where it belongs
    std::size_t firstItem_;
    std::size_t content_ = 0;  // of the current item
  };
}
