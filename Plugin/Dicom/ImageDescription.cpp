// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ImageDescription.h"

#include "Dicom/PhotometricInterpretation.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_FLOAT_PIXEL_DATA = 0x7fe00008;
    constexpr DicomTag TAG_DOUBLE_FLOAT_PIXEL_DATA = 0x7fe00009;

    constexpr DicomTag TAG_NUMBER_OF_FRAMES = 0x00280008;
    constexpr DicomTag TAG_PIXEL_PADDING_VALUE = 0x00280120;
    constexpr DicomTag TAG_PIXEL_PADDING_RANGE_LIMIT = 0x00280121;
    constexpr std::size_t MAXIMUM_INTEGER_STRING = 12;

    // An integer string (IS): DICOM PS3.5 table 6.2-1. Without a value there is one frame, as
    // images of one need not say so (PS3.3 section C.7.6.6). Under another VR, DCMTK takes it for
    // absent.
    std::optional<std::uint32_t> ParseFrames(const DataElement& element)
    {
      std::string_view text = element.GetText();
      text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));

      if (element.GetValue().size() > MAXIMUM_INTEGER_STRING)
      {
        return std::nullopt;
      }

      if (text.empty())
      {
        return 1;
      }

      const bool isIntegerString = element.representation.kind == ValueKind::Unspecified ||
                                   element.bytes.substr(4, 2) == "IS";
      text.remove_prefix(text.front() == '+' ? 1 : 0);

      std::uint32_t frames = 0;
      const char* const end = text.data() + text.size();
      const auto result = std::from_chars(text.data(), end, frames);
      const bool isLegal = isIntegerString && result.ec == std::errc() && result.ptr == end &&
                           frames > 0 && frames <= std::numeric_limits<std::int32_t>::max();
      return isLegal ? std::make_optional(frames) : std::nullopt;
    }

    // Overlay Bit Position (60xx,0102); zero where the overlay has data of its own
    bool IsOverlayBitPosition(DicomTag tag)
    {
      return (tag & 0xff01ffff) == 0x60000102;
    }

    constexpr std::pair<DicomTag, std::uint16_t ImageDescription::*> NUMBERS[] = {
        {0x00280002, &ImageDescription::samplesPerPixel},
        {0x00280006, &ImageDescription::planarConfiguration},
        {0x00280010, &ImageDescription::rows},
        {0x00280011, &ImageDescription::columns},
        {0x00280100, &ImageDescription::bitsAllocated},
        {0x00280101, &ImageDescription::bitsStored},
        {0x00280102, &ImageDescription::highBit},
        {0x00280103, &ImageDescription::pixelRepresentation}};

    // Of those that come twice, the first counts
    DataElement Get(const DataSet& dataSet, DicomTag tag)
    {
      const DataElement* const element = dataSet.Find(tag);
      return element == nullptr ? DataElement() : *element;
    }

    // The limit may be on either side of the value; without a value it says nothing
    void CopyPadding(ImageDescription& image, const DataSet& dataSet, const DicomEncoding& encoding)
    {
      const auto read = [&](const DataElement& element)
      {
        const std::uint16_t number = element.GetUnsignedShort(encoding);
        return image.pixelRepresentation == 1 ? static_cast<std::int16_t>(number)
                                              : static_cast<std::int32_t>(number);
      };
      const DataElement value = Get(dataSet, TAG_PIXEL_PADDING_VALUE);
      const DataElement limit = Get(dataSet, TAG_PIXEL_PADDING_RANGE_LIMIT);

      if (image.samplesPerPixel == 1 && value.GetValue().size() >= 2)
      {
        const bool hasLimit = limit.GetValue().size() >= 2;
        image.padding = std::minmax({read(value), read(hasLimit ? limit : value)});
      }
    }

    void CopyPixels(ImageDescription& image, const DataSet& dataSet, bool isExplicit)
    {
      const DataElement* const pixels = dataSet.Find(TAG_PIXEL_DATA);

      if (pixels == nullptr)
      {
        const bool isFloat = dataSet.Find(TAG_FLOAT_PIXEL_DATA) != nullptr ||
                             dataSet.Find(TAG_DOUBLE_FLOAT_PIXEL_DATA) != nullptr;
        image.kind = isFloat ? PixelDataKind::Float : PixelDataKind::None;
      }
      else if (pixels->HasValue())
      {
        image.kind = PixelDataKind::Native;
        image.pixelData = pixels->GetValue();
      }
      else
      {
        image.kind = PixelDataKind::Encapsulated;
        image.encapsulatedPixels = isExplicit ? pixels->bytes : std::string_view();
      }
    }

    // Samples that two pixels share count once: DICOM PS3.3 section C.7.6.3.1.2
    std::uint64_t GetBitsPerTwoPixels(const ImageDescription& image)
    {
      const bool isShared = image.samplesPerPixel == 3 &&
                            IsSubsampled(ParsePhotometric(image.photometricInterpretation));
      return std::uint64_t(image.bitsAllocated) * (isShared ? 4 : 2 * image.samplesPerPixel);
    }
  }

  std::optional<std::size_t> ImageDescription::GetNativeSize() const noexcept
  {
    // DICOM PS3.3 knows up to 4 samples, PS3.5 section 8.1.1 up to 64 bits
    if (rows == 0 || columns == 0 || samplesPerPixel == 0 || samplesPerPixel > 4 ||
        bitsAllocated == 0 || bitsAllocated > 64)
    {
      return std::nullopt;
    }

    // Less than 2^42: the frames are what may overflow
    const std::uint64_t frame = std::uint64_t(rows) * columns * GetBitsPerTwoPixels(*this);

    if (frames > std::numeric_limits<std::uint64_t>::max() / 2 / frame)
    {
      return std::nullopt;
    }

    return static_cast<std::size_t>((frame * frames + 15) / 16);
  }

  bool ImageDescription::HasLegalBits() const noexcept
  {
    return bitsStored > 0 && bitsStored <= bitsAllocated && highBit < bitsAllocated &&
           highBit + 1 >= bitsStored;
  }

  ImageDescription DescribeImage(const DataSet& dataSet, const DicomEncoding& encoding)
  {
    const std::optional<std::uint32_t> frames = ParseFrames(Get(dataSet, TAG_NUMBER_OF_FRAMES));
    ImageDescription image;
    static_cast<DataSetOddities&>(image) = static_cast<const DataSetOddities&>(dataSet);

    for (const auto& [tag, number] : NUMBERS)
    {
      image.*number = Get(dataSet, tag).GetUnsignedShort(encoding);
    }

    image.frames = frames.value_or(1);
    image.hasLegalFrames = frames.has_value();
    image.photometricInterpretation = Get(dataSet, TAG_PHOTOMETRIC_INTERPRETATION).GetText();
    image.sopClassUid = Get(dataSet, TAG_SOP_CLASS_UID).GetText();
    image.sopInstanceUid = Get(dataSet, TAG_SOP_INSTANCE_UID).GetText();
    image.hasEmbeddedOverlays = std::any_of(dataSet.elements.begin(), dataSet.elements.end(),
                                            [&encoding](const DataElement& element) {
                                              return IsOverlayBitPosition(element.tag) &&
                                                     element.GetUnsignedShort(encoding) != 0;
                                            });
    image.hasExtendedOffsets = dataSet.Find(TAG_EXTENDED_OFFSET_TABLE) != nullptr ||
                               dataSet.Find(TAG_EXTENDED_OFFSET_TABLE_LENGTHS) != nullptr;
    CopyPadding(image, dataSet, encoding);
    CopyPixels(image, dataSet, encoding.isExplicit);
    return image;
  }
}
