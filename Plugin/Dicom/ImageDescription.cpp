// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ImageDescription.h"

#include "Dicom/DicomFileWalk.h"
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
      std::string_view text = GetText(element);

      if (element.length > MAXIMUM_INTEGER_STRING)
      {
        return std::nullopt;
      }

      if (text.empty())
      {
        return 1;
      }

      const bool isIntegerString = element.representation.kind == ValueKind::Unspecified ||
                                   (element.header[4] == 'I' && element.header[5] == 'S');
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


    // Digital Signatures Sequence, and MAC Parameters Sequence, which says what they cover: DICOM
    // PS3.3 section C.12.1.1.3. Encrypted attributes are copied as they are and stay valid.
    bool BelongsToSignature(DicomTag tag)
    {
      return tag == 0xfffafffa || tag == 0x4ffe0001;
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


    // Of all elements that describe an image
    constexpr std::array<DicomTag, 19> TAGS = {TAG_SOP_CLASS_UID,
                                               TAG_SOP_INSTANCE_UID,
                                               0x00280002,
                                               TAG_PHOTOMETRIC_INTERPRETATION,
                                               0x00280006,
                                               TAG_NUMBER_OF_FRAMES,
                                               0x00280010,
                                               0x00280011,
                                               0x00280100,
                                               0x00280101,
                                               0x00280102,
                                               0x00280103,
                                               TAG_PIXEL_PADDING_VALUE,
                                               TAG_PIXEL_PADDING_RANGE_LIMIT,
                                               TAG_EXTENDED_OFFSET_TABLE,
                                               TAG_EXTENDED_OFFSET_TABLE_LENGTHS,
                                               TAG_FLOAT_PIXEL_DATA,
                                               TAG_DOUBLE_FLOAT_PIXEL_DATA,
                                               TAG_PIXEL_DATA};


    // Elements as they are found; the first of those that come twice, as DCMTK does
    class ImageCollector : public IDataElementVisitor
    {
    public:
      // "end": of the file
      explicit ImageCollector(const void* end) : end_(static_cast<const std::uint8_t*>(end))
      {
      }

      void VisitElement(const DataElement& element) noexcept override
      {
        if (afterPixels_ == nullptr && Has(TAG_PIXEL_DATA))
        {
          afterPixels_ = element.header;
        }

        const std::size_t place = FindPlace(element.tag);

        if (place < TAGS.size() && elements_[place].header == nullptr)
        {
          elements_[place] = element;
        }

        hasDigitalSignatures_ |= BelongsToSignature(element.tag);

        if (IsOverlayBitPosition(element.tag) && element.length == 2 && element.value != nullptr)
        {
          hasEmbeddedOverlays_ |= element.value[0] != 0 || element.value[1] != 0;
        }
      }

      void VisitNestedElement(const DataElement& element) noexcept override
      {
        hasDigitalSignatures_ |= BelongsToSignature(element.tag);
        hasNestedFragments_ |= element.tag == TAG_PIXEL_DATA && element.length == UNDEFINED_LENGTH;
      }

      void CopyTo(ImageDescription& image, const DicomEncoding& encoding) const noexcept
      {
        for (const auto& [tag, number] : NUMBERS)
        {
          image.*number = GetUnsignedShort(Get(tag), encoding);
        }

        const std::optional<std::uint32_t> frames = ParseFrames(Get(TAG_NUMBER_OF_FRAMES));
        image.frames = frames.value_or(1);
        image.hasLegalFrames = frames.has_value();
        image.photometricInterpretation = GetText(Get(TAG_PHOTOMETRIC_INTERPRETATION));
        image.sopClassUid = GetText(Get(TAG_SOP_CLASS_UID));
        image.sopInstanceUid = GetText(Get(TAG_SOP_INSTANCE_UID));
        image.hasEmbeddedOverlays = hasEmbeddedOverlays_;
        image.hasNestedFragments = hasNestedFragments_;
        image.hasDigitalSignatures = hasDigitalSignatures_;
        image.extendedOffsets = GetBytes(Get(TAG_EXTENDED_OFFSET_TABLE));
        image.extendedLengths = GetBytes(Get(TAG_EXTENDED_OFFSET_TABLE_LENGTHS));
        CopyPadding(image, encoding);
        CopyPixels(image, encoding);
      }

    private:
      static std::size_t FindPlace(DicomTag tag) noexcept
      {
        return static_cast<std::size_t>(std::find(TAGS.begin(), TAGS.end(), tag) - TAGS.begin());
      }

      // One of the table

      const DataElement& Get(DicomTag tag) const noexcept
      {
        return elements_[FindPlace(tag)];
      }

      bool Has(DicomTag tag) const noexcept
      {
        return Get(tag).header != nullptr;
      }

      bool HasNumber(DicomTag tag) const noexcept
      {
        return Get(tag).value != nullptr && Get(tag).length >= 2;
      }

      // The limit may be on either side of the value; without a value it says nothing
      void CopyPadding(ImageDescription& image, const DicomEncoding& encoding) const noexcept
      {
        const auto read = [&](DicomTag tag)
        {
          const std::uint16_t number = GetUnsignedShort(Get(tag), encoding);
          return image.pixelRepresentation == 1 ? static_cast<std::int16_t>(number)
                                                : static_cast<std::int32_t>(number);
        };

        if (image.samplesPerPixel == 1 && HasNumber(TAG_PIXEL_PADDING_VALUE))
        {
          const std::int32_t value = read(TAG_PIXEL_PADDING_VALUE);
          const std::int32_t limit = HasNumber(TAG_PIXEL_PADDING_RANGE_LIMIT)
                                         ? read(TAG_PIXEL_PADDING_RANGE_LIMIT)
                                         : value;
          image.padding = std::minmax({value, limit});
        }
      }

      void CopyPixels(ImageDescription& image, const DicomEncoding& encoding) const noexcept
      {
        const DataElement pixels = Get(TAG_PIXEL_DATA);

        if (!Has(TAG_PIXEL_DATA))
        {
          image.kind = Has(TAG_FLOAT_PIXEL_DATA) || Has(TAG_DOUBLE_FLOAT_PIXEL_DATA)
                           ? PixelDataKind::Float
                           : PixelDataKind::None;
        }
        else if (pixels.value == nullptr)
        {
          image.kind = PixelDataKind::Encapsulated;

          if (encoding.isExplicit)
          {
            const std::uint8_t* const end = afterPixels_ == nullptr ? end_ : afterPixels_;
            image.encapsulatedPixels = {reinterpret_cast<const char*>(pixels.header),
                                        static_cast<std::size_t>(end - pixels.header)};
          }
        }
        else
        {
          image.kind = PixelDataKind::Native;
          image.pixelData = GetBytes(pixels);
        }
      }

      static std::string_view GetBytes(const DataElement& element) noexcept
      {
        return element.value == nullptr
                   ? std::string_view()
                   : std::string_view(reinterpret_cast<const char*>(element.value), element.length);
      }

      std::array<DataElement, TAGS.size()> elements_ = {};  // without a header: not there
      bool hasEmbeddedOverlays_ = false;
      bool hasNestedFragments_ = false;
      bool hasDigitalSignatures_ = false;
      const std::uint8_t* const end_;
      const std::uint8_t* afterPixels_ = nullptr;
    };


    // Samples that two or four pixels share count once: DICOM PS3.3 section C.7.6.3.1.2
    std::uint64_t GetBitsPerTwoPixels(const ImageDescription& image)
    {
      const std::uint64_t bits = image.bitsAllocated;

      const Photometric photometric = ParsePhotometric(image.photometricInterpretation);

      if (image.samplesPerPixel == 3 && IsSubsampled(photometric))
      {
        return (photometric == Photometric::YbrPartial420 ? 3 : 4) * bits;
      }

      return 2 * bits * image.samplesPerPixel;
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


  ImageDescription DescribeImage(const void* data, std::size_t size) noexcept
  {
    ImageCollector collector(static_cast<const char*>(data) + size);
    const DicomFileWalk walk = WalkDicomFile(data, size, collector);

    ImageDescription image;
    image.transferSyntax = walk.transferSyntax;
    image.isDeflated = walk.isDeflated;

    if (!walk.isDeflated && walk.result == WalkResult::Complete && walk.rest.empty())
    {
      collector.CopyTo(image, walk.encoding);
      image.hasUnorderedElements = walk.hasUnorderedElements;
    }

    return image;
  }
}
