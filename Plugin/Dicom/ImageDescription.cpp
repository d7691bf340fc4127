// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ImageDescription.h"

#include "Dicom/CodestreamCheck.h"
#include "Dicom/DicomFileWalk.h"

#include <algorithm>
#include <charconv>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_FLOAT_PIXEL_DATA = 0x7fe00008;
    constexpr DicomTag TAG_DOUBLE_FLOAT_PIXEL_DATA = 0x7fe00009;

    constexpr std::string_view ENCAPSULATED_PREFIX = "1.2.840.10008.1.2.4.";
    constexpr std::string_view RLE_LOSSLESS = "1.2.840.10008.1.2.5";


    // Number of Frames is a text: PS3.3 section C.7.6.6
    std::uint32_t ParseFrames(std::string_view text)
    {
      std::uint32_t frames = 0;
      const auto result = std::from_chars(text.data(), text.data() + text.size(), frames);
      return result.ec == std::errc() && frames > 0 ? frames : 1;
    }


    // Overlay Bit Position (60xx,0102); zero where the overlay has data of its own
    bool IsOverlayBitPosition(DicomTag tag)
    {
      return (tag & 0xff01ffff) == 0x60000102;
    }


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

        for (Attribute& attribute : attributes_)
        {
          if (attribute.tag == element.tag && !attribute.wasSeen)
          {
            attribute.wasSeen = true;
            attribute.element = element;
          }
        }

        if (IsOverlayBitPosition(element.tag) && element.length == 2 && element.value != nullptr)
        {
          hasEmbeddedOverlays_ |= element.value[0] != 0 || element.value[1] != 0;
        }
      }

      void CopyTo(ImageDescription& image, const DicomEncoding& encoding) const noexcept
      {
        image.samplesPerPixel = GetUnsignedShort(Get(0x00280002), encoding);
        image.planarConfiguration = GetUnsignedShort(Get(0x00280006), encoding);
        image.rows = GetUnsignedShort(Get(0x00280010), encoding);
        image.columns = GetUnsignedShort(Get(0x00280011), encoding);
        image.bitsAllocated = GetUnsignedShort(Get(0x00280100), encoding);
        image.bitsStored = GetUnsignedShort(Get(0x00280101), encoding);
        image.highBit = GetUnsignedShort(Get(0x00280102), encoding);
        image.pixelRepresentation = GetUnsignedShort(Get(0x00280103), encoding);
        image.frames = ParseFrames(GetText(Get(0x00280008)));
        image.photometricInterpretation = GetText(Get(0x00280004));
        image.sopClassUid = GetText(Get(0x00080016));
        image.sopInstanceUid = GetText(Get(0x00080018));
        image.hasEmbeddedOverlays = hasEmbeddedOverlays_;
        CopyPixels(image, encoding);
      }

    private:
      struct Attribute
      {
        DicomTag tag = 0;
        bool wasSeen = false;
        DataElement element;
      };

      bool Has(DicomTag tag) const noexcept
      {
        return std::any_of(attributes_.begin(), attributes_.end(),
                           [tag](const Attribute& attribute)
                           { return attribute.tag == tag && attribute.wasSeen; });
      }

      DataElement Get(DicomTag tag) const noexcept
      {
        const auto found =
            std::find_if(attributes_.begin(), attributes_.end(),
                         [tag](const Attribute& attribute) { return attribute.tag == tag; });
        return found == attributes_.end() ? DataElement() : found->element;
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
          image.pixelData = {reinterpret_cast<const char*>(pixels.value), pixels.length};
        }
      }

      static Attribute Of(DicomTag tag) noexcept
      {
        Attribute attribute;
        attribute.tag = tag;
        return attribute;
      }

      std::array<Attribute, 15> attributes_ = {
          Of(0x00080016),           Of(0x00080018),
          Of(0x00280002),           Of(0x00280004),
          Of(0x00280006),           Of(0x00280008),
          Of(0x00280010),           Of(0x00280011),
          Of(0x00280100),           Of(0x00280101),
          Of(0x00280102),           Of(0x00280103),
          Of(TAG_FLOAT_PIXEL_DATA), Of(TAG_DOUBLE_FLOAT_PIXEL_DATA),
          Of(TAG_PIXEL_DATA)};
      bool hasEmbeddedOverlays_ = false;
      const std::uint8_t* const end_;
      const std::uint8_t* afterPixels_ = nullptr;
    };


    // Samples that two or four pixels share count once: DICOM PS3.3 section C.7.6.3.1.2
    std::uint64_t GetBitsPerTwoPixels(const ImageDescription& image)
    {
      const std::uint64_t bits = image.bitsAllocated;

      if (image.samplesPerPixel == 3)
      {
        if (image.photometricInterpretation == "YBR_FULL_422" ||
            image.photometricInterpretation == "YBR_PARTIAL_422")
        {
          return 4 * bits;
        }

        if (image.photometricInterpretation == "YBR_PARTIAL_420")
        {
          return 3 * bits;
        }
      }

      return 2 * bits * image.samplesPerPixel;
    }


    // MPEG-2, MPEG-4 and HEVC, with their fragmentable variants: DICOM PS3.6 table A-1
    bool IsVideo(std::string_view transferSyntax)
    {
      const std::string_view prefix = transferSyntax.substr(0, ENCAPSULATED_PREFIX.size());
      const std::string_view number = transferSyntax.substr(prefix.size());
      return prefix == ENCAPSULATED_PREFIX && number.size() >= 3 && number.substr(0, 2) == "10" &&
             number[2] >= '0' && number[2] <= '8' && (number.size() == 3 || number[3] == '.');
    }


    std::string ToText(std::size_t number)
    {
      return std::to_string(number);
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


  ImageDescription DescribeImage(const void* data, std::size_t size) noexcept
  {
    ImageCollector collector(static_cast<const char*>(data) + size);
    const DicomFileWalk walk = WalkDicomFile(data, size, collector);

    ImageDescription image;
    image.transferSyntax = walk.transferSyntax;
    image.isDeflated = walk.isDeflated;

    if (!walk.isDeflated && walk.result == WalkResult::Complete)
    {
      collector.CopyTo(image, walk.encoding);
    }

    return image;
  }


  std::string FindReasonToLeaveAlone(const ImageDescription& image, const std::string& target)
  {
    if (target == image.transferSyntax.data())
    {
      return "in the target already";
    }

    if (IsVideo(image.transferSyntax.data()))
    {
      return "a video";
    }

    switch (image.kind)
    {
      case PixelDataKind::None:
        return "no pixel data";

      case PixelDataKind::Float:
        return "Float Pixel Data, which no transfer syntax compresses";

      default:
        return "";
    }
  }


  std::string FindObstacle(const ImageDescription& image, const std::string& target)
  {
    if (IsVideo(image.transferSyntax.data()))
    {
      return "a video";
    }

    if (image.kind == PixelDataKind::Encapsulated)
    {
      return FindContradiction(image);
    }

    if (!IsEncapsulated(target))
    {
      return "";
    }

    if (image.kind == PixelDataKind::None || image.kind == PixelDataKind::Float)
    {
      return "no Pixel Data to compress";
    }

    if (image.kind == PixelDataKind::Native)
    {
      const std::optional<std::size_t> expected = image.GetNativeSize();

      if (!expected.has_value())
      {
        return "Rows, Columns, Samples per Pixel or Bits Allocated is missing, zero or too large";
      }

      if (image.pixelData.size() < *expected)
      {
        return "Pixel Data has " + ToText(image.pixelData.size()) + " bytes instead of " +
               ToText(*expected);
      }
    }

    return "";
  }


  bool IsEncapsulated(std::string_view transferSyntax) noexcept
  {
    return transferSyntax == RLE_LOSSLESS ||
           transferSyntax.substr(0, ENCAPSULATED_PREFIX.size()) == ENCAPSULATED_PREFIX;
  }
}
