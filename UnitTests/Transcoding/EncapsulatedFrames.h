// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetEditor.h"
#include "Transcoding/Native/LosslessJpegDecoder.h"

#include <string>
#include <vector>

namespace OrthancPerf
{
  // The encapsulated Pixel Data of a file: its offset table and its fragments, read strictly
  class EncapsulatedFrames
  {
  public:
    explicit EncapsulatedFrames(const std::string& file)
    {
      const DataSetEditor editor{ReceivedFile(file)};
      const DataElement* const element = editor.Find(TAG_PIXEL_DATA);

      if (element == nullptr || element->HasValue() || element->bytes.substr(4, 2) != "OB")
      {
        throw std::runtime_error("No encapsulated Pixel Data");
      }

      bytes_ = std::string(element->bytes.substr(12));
      offsetTable = ReadItem();
      const std::size_t first = position_;

      while (Read32(position_) == 0xe000fffe)
      {
        offsets.push_back(position_ - first);
        fragments.push_back(ReadItem());
      }

      if (Read32(position_) != 0xe0ddfffe || position_ + 8 != bytes_.size())
      {
        throw std::runtime_error("No sequence delimitation at the end of the Pixel Data");
      }
    }

    // The samples of all frames, as native Pixel Data holds them
    std::string Decode() const
    {
      std::string pixels;

      for (const std::string& fragment : fragments)
      {
        const LosslessJpegDecoder decoder(fragment);

        for (const std::uint16_t sample : decoder.samples)
        {
          pixels.push_back(static_cast<char>(sample & 0xff));

          if (decoder.precision > 8)
          {
            pixels.push_back(static_cast<char>(sample >> 8));
          }
        }
      }

      return pixels;
    }

    std::string offsetTable;
    std::vector<std::string> fragments;
    std::vector<std::size_t> offsets;  // where the fragments are, as the table counts

  private:
    std::size_t Read32(std::size_t position) const
    {
      if (position + 4 > bytes_.size())
      {
        throw std::runtime_error("The Pixel Data is cut");
      }

      std::size_t value = 0;

      for (std::size_t i = 4; i > 0; i--)
      {
        value = value << 8 | static_cast<std::uint8_t>(bytes_[position + i - 1]);
      }

      return value;
    }

    std::string ReadItem()
    {
      const std::size_t length = Read32(position_ + 4);

      if (Read32(position_) != 0xe000fffe || length % 2 != 0 ||
          length > bytes_.size() - position_ - 8)
      {
        throw std::runtime_error("An item of the Pixel Data is wrong");
      }

      position_ += 8 + length;
      return bytes_.substr(position_ - length, length);
    }

    std::string bytes_;
    std::size_t position_ = 0;
  };
}
