// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/EncapsulatedPixels.h"

#include "Dicom/ElementWriter.h"

#include <limits>
#include <stdexcept>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t LENGTH_SIZE = 4;
    constexpr std::size_t ITEM_HEADER = 8;
  }


  EncapsulatedPixels::EncapsulatedPixels(std::size_t frames) : frames_(frames)
  {
    // The longest table that an item can be
    const bool hasOffsets = frames > 1 && frames < UNDEFINED_LENGTH / LENGTH_SIZE;
    AppendUndefinedLength(element_, TAG_PIXEL_DATA, "OB");
    AppendItem(element_, std::string(hasOffsets ? LENGTH_SIZE * frames : 0, '\0'));
    firstItem_ = element_.size();
  }


  std::string& EncapsulatedPixels::BeginFrame()
  {
    offsets_.push_back(element_.size() - firstItem_);
    AppendItem(element_, "");
    content_ = element_.size();
    return element_;
  }


  void EncapsulatedPixels::EndFrame()
  {
    // Fragments have an even length; decoders stop at the end of the image before the zero
    element_.append((element_.size() - content_) % 2, '\0');
    const std::size_t length = element_.size() - content_;

    if (length >= UNDEFINED_LENGTH)
    {
      throw std::length_error("A frame is too long for a fragment");
    }

    std::string bytes;
    AppendInteger(bytes, length, LENGTH_SIZE);
    element_.replace(content_ - LENGTH_SIZE, LENGTH_SIZE, bytes);
  }


  // In place of zeros, or of the whole table
  void EncapsulatedPixels::WriteOffsets()
  {
    std::string table;

    if (offsets_.back() <= std::numeric_limits<std::uint32_t>::max())
    {
      for (const std::size_t offset : offsets_)
      {
        AppendInteger(table, offset, LENGTH_SIZE);
      }
    }

    std::string item;
    AppendItem(item, table);
    const std::size_t size = ITEM_HEADER + LENGTH_SIZE * frames_;
    element_.replace(firstItem_ - size, size, item);
  }


  std::string EncapsulatedPixels::Finish()
  {
    if (offsets_.size() != frames_)
    {
      throw std::logic_error("A frame of the Pixel Data is missing");
    }

    if (firstItem_ > 12 + ITEM_HEADER)
    {
      WriteOffsets();
    }

    AppendSequenceDelimitation(element_);
    return std::move(element_);
  }
}
