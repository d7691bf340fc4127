// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetEditor.h"
#include "Dicom/ElementWriter.h"
#include "Transcoding/ImageFile.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // What a fuzz target is given, byte by byte; zeros when there is no more
  class Input
  {
  public:
    Input(const std::uint8_t* data, std::size_t size) : bytes_(data, data + size)
    {
    }

    unsigned int Take()
    {
      return position_ < bytes_.size() ? bytes_[position_++] : 0;
    }

    std::string TakeRest() const
    {
      return std::string(bytes_.begin() + static_cast<std::ptrdiff_t>(position_), bytes_.end());
    }

  private:
    const std::vector<std::uint8_t> bytes_;
    std::size_t position_ = 0;
  };

  // Whether the rest is a DICOM file rather than what MakePlainImage makes one of
  inline bool IsFile(const std::string& rest)
  {
    return rest.size() > 132 && rest.compare(128, 4, "DICM") == 0;
  }

  // An image in Explicit VR Little Endian whose shape the first bytes say
  inline std::string MakePlainImage(Input& input)
  {
    ImageFile image;
    const unsigned int shape = input.Take();
    image.rows = input.Take() % 16 + 1;
    image.columns = input.Take() % 16 + 1;
    image.samples = shape % 4 == 3 ? 3 : 1;
    image.photometric = image.samples == 3 ? (shape & 64) != 0 ? "YBR_FULL" : "RGB" : "MONOCHROME2";
    image.planarConfiguration = shape / 4 % 2;
    image.bitsAllocated = (shape & 8) != 0 ? 8 : 16;
    image.bitsStored = (shape & 16) != 0 ? image.bitsAllocated - 4 : image.bitsAllocated;
    image.isSigned = (shape & 32) != 0;
    const unsigned int last = input.Take();
    const std::size_t frames = last % 5 + 1;
    image.frames = std::to_string(frames);
    image.pixels = input.TakeRest().substr(0, frames * image.GetFrameSize());
    image.pixels.resize(frames * image.GetFrameSize(), '\7');

    const std::string file = image.Make();
    DataSetEditor editor{ReceivedFile(file)};
    editor.Set(0x00020003, "UI", "1.2.3.4");  // all that a deflated file tells
    editor.Set(0x00100020, "LO", "PATIENT");
    editor.Set(0x0020000d, "UI", "1.2.3");
    editor.Set(0x0020000e, "UI", "1.2.3.1");

    if ((shape & 128) != 0)
    {
      editor.Set(0x60000102, "US", std::string("\14\0", 2));  // overlays in unused bits
    }

    if ((last & 64) != 0)
    {
      std::string highBit;
      AppendInteger(highBit, last >> 7 == 0 ? image.bitsAllocated - 1 : 3, 2);  // 3: illegal
      editor.Set(0x00280102, "US", highBit);
    }

    return editor.Write();
  }
}
