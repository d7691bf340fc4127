// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/SourceImage.h"

#include "Dicom/PixelDataFlaw.h"

#include <algorithm>
#include <cstdint>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    // DICOM PS3.3 section C.7.6.3
    constexpr DicomTag TAG_SAMPLES_PER_PIXEL = 0x00280002;
    constexpr DicomTag TAG_PHOTOMETRIC_INTERPRETATION = 0x00280004;
    constexpr DicomTag TAG_PLANAR_CONFIGURATION = 0x00280006;
    constexpr DicomTag TAG_NUMBER_OF_FRAMES = 0x00280008;
    constexpr DicomTag TAG_ROWS = 0x00280010;
    constexpr DicomTag TAG_COLUMNS = 0x00280011;
    constexpr DicomTag TAG_BITS_ALLOCATED = 0x00280100;
    constexpr DicomTag TAG_BITS_STORED = 0x00280101;
    constexpr DicomTag TAG_HIGH_BIT = 0x00280102;

    // Smaller frames, in bytes, would grow: JPEG's own headers take about a hundred
    constexpr std::size_t SMALL_FRAME = 128;
    constexpr std::size_t MANY_FRAMES = 4096;

    std::size_t ReadNumber(const DataSetEditor& file, DicomTag tag, const char* name)
    {
      const DataSetEditor::Element* const element = file.Find(tag);

      if (element == nullptr || element->GetRepresentation() != "US" ||
          element->GetValue().size() != 2 || file.IsRepeated(tag))
      {
        throw DataSetError(std::string(name) + " is missing or is not one number");
      }

      const std::string_view value = element->GetValue();
      return static_cast<std::size_t>(static_cast<std::uint8_t>(value[0]) |
                                      static_cast<std::uint8_t>(value[1]) << 8);
    }

    // An integer string (IS), DICOM PS3.5 section 6.2: spaces may stand around it
    std::size_t ReadFrameCount(const DataSetEditor& file)
    {
      std::string_view text = file.GetText(TAG_NUMBER_OF_FRAMES);
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));

      if (text.empty())
      {
        return 1;  // an image of one frame need not say so
      }

      text.remove_prefix(text.front() == '+' ? 1 : 0);
      std::size_t frames = 0;

      for (const char c : text)
      {
        if (c < '0' || c > '9' || text.size() > 12)
        {
          throw DataSetError("Number of Frames is not a number");
        }

        frames = 10 * frames + static_cast<std::size_t>(c - '0');
      }

      if (frames == 0 || text.empty())
      {
        throw DataSetError("Number of Frames is zero");
      }

      return frames;
    }

    void CheckBits(const DataSetEditor& file)
    {
      const std::size_t allocated = ReadNumber(file, TAG_BITS_ALLOCATED, "Bits Allocated");
      const std::size_t stored = ReadNumber(file, TAG_BITS_STORED, "Bits Stored");
      const std::size_t highBit = ReadNumber(file, TAG_HIGH_BIT, "High Bit");

      if (allocated != 8 && allocated != 16)
      {
        throw ImageDeclined("Bits Allocated is neither 8 nor 16");
      }

      if (stored == 0 || stored > allocated || highBit >= allocated || highBit + 1 < stored)
      {
        throw DataSetError("Bits Stored or High Bit do not fit Bits Allocated");
      }
    }
  }


  SourceImage::SourceImage(const DataSetEditor& file) :
    photometric_(ParsePhotometric(file.GetText(TAG_PHOTOMETRIC_INTERPRETATION)))
  {
    CheckPixels(file);
    CheckBits(file);
    first_.rows = ReadNumber(file, TAG_ROWS, "Rows");
    first_.columns = ReadNumber(file, TAG_COLUMNS, "Columns");
    first_.samples = ReadNumber(file, TAG_SAMPLES_PER_PIXEL, "Samples per Pixel");
    first_.bytesPerSample = ReadNumber(file, TAG_BITS_ALLOCATED, "Bits Allocated") / 8;
    frames_ = ReadFrameCount(file);

    const bool isColour = photometric_ == Photometric::Rgb || photometric_ == Photometric::YbrFull;

    if (!(first_.samples == 1 && HasOneSample(photometric_)) && !(first_.samples == 3 && isColour))
    {
      throw ImageDeclined("Neither one component nor RGB or YBR_FULL");
    }

    if (first_.samples == 3)
    {
      first_.isPlanar = ReadNumber(file, TAG_PLANAR_CONFIGURATION, "Planar Configuration") == 1;
    }

    CheckSize(file.Find(TAG_PIXEL_DATA)->GetValue());
  }


  void SourceImage::CheckPixels(const DataSetEditor& file)
  {
    const DataSetEditor::Element* const pixels = file.Find(TAG_PIXEL_DATA);

    if (pixels == nullptr)
    {
      throw ImageDeclined("No Pixel Data");
    }

    if (!pixels->HasValue() || file.IsRepeated(TAG_PIXEL_DATA) ||
        (pixels->GetRepresentation() != "OW" && pixels->GetRepresentation() != "OB"))
    {
      throw DataSetError("The Pixel Data is not what its transfer syntax says");
    }

    first_.pixels = reinterpret_cast<const std::uint8_t*>(pixels->GetValue().data());
  }


  void SourceImage::CheckSize(std::string_view pixels)
  {
    if (first_.rows == 0 || first_.columns == 0)
    {
      throw DataSetError("Rows or Columns are zero");
    }

    if (frames_ > pixels.size() / GetFrameSize())
    {
      throw DataSetError("There is less Pixel Data than the image needs");
    }

    if (!IsPixelPadding(pixels.substr(frames_ * GetFrameSize()), GetFrameSize()))
    {
      throw ImageDeclined("There is more Pixel Data than the image needs");
    }

    if (frames_ > MANY_FRAMES && GetFrameSize() < SMALL_FRAME)
    {
      throw ImageDeclined("The frames are so small that they would grow");
    }
  }


  RasterFrame SourceImage::GetFrame(std::size_t index) const noexcept
  {
    RasterFrame frame = first_;
    frame.pixels += index * GetFrameSize();
    return frame;
  }


  // At most 6 times 65535 times 65535 bytes
  std::size_t SourceImage::GetFrameSize() const noexcept
  {
    return first_.rows * first_.columns * first_.samples * first_.bytesPerSample;
  }
}
