// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/PixelComparison.h"

#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/PixelDataFlaw.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    // What says the same of pixels that are decoded is the same
    Photometric GetDecodedColour(const ImageDescription& image)
    {
      return GetDecoded(ParsePhotometric(image.photometricInterpretation));
    }

    bool HasSameColour(const ImageDescription& expected, const ImageDescription& actual)
    {
      return expected.photometricInterpretation == actual.photometricInterpretation ||
             (GetDecodedColour(expected) == GetDecodedColour(actual) &&
              GetDecodedColour(expected) != Photometric::Unknown);
    }

    // What follows the frames, if it is more than padding
    std::string_view GetRest(const ImageDescription& image)
    {
      const std::size_t size = *image.GetNativeSize();
      const std::string_view rest = image.pixelData.substr(size);
      return IsPixelPadding(rest, size / image.frames) ? std::string_view() : rest;
    }

    // Whether SampleRow is made for it: whole bytes, bits where they belong, all samples there
    bool IsReadable(const ImageDescription& image)
    {
      const bool hasWidth =
          image.bitsAllocated == 8 || image.bitsAllocated == 16 || image.bitsAllocated == 32;
      const bool isSubsampled = image.samplesPerPixel == 3 &&
                                IsSubsampled(ParsePhotometric(image.photometricInterpretation));
      return hasWidth && image.HasLegalBits() && !isSubsampled;
    }

    bool HasSameGeometry(const ImageDescription& expected, const ImageDescription& actual)
    {
      return expected.rows == actual.rows && expected.columns == actual.columns &&
             expected.samplesPerPixel == actual.samplesPerPixel && expected.frames == actual.frames;
    }

    // Samples have up to 32 bits, with a sign or without
    using Numbers = std::vector<std::int64_t>;

    constexpr std::int64_t MakeMask(unsigned int bits) noexcept
    {
      return (std::int64_t(1) << bits) - 1;
    }

    // The samples of one row of one frame as arrays of integers, by pixel, whichever way the file
    // arranges them
    class SampleRow
    {
    public:
      explicit SampleRow(const ImageDescription& image) :
        words(std::size_t(image.columns) * image.samplesPerPixel),
        numbers(words.size()),
        image_(image),
        shift_(image.highBit + 1 - image.bitsStored),
        mask_(MakeMask(image.bitsStored)),
        sign_(image.pixelRepresentation == 1 ? std::int64_t(1) << (image.bitsStored - 1) : 0),
        unused_(MakeMask(image.bitsAllocated) & ~(mask_ << shift_))
      {
      }

      // "row": counted through all frames
      void Read(std::size_t row)
      {
        image_.bitsAllocated == 8    ? Load<std::uint8_t>(row)
        : image_.bitsAllocated == 16 ? Load<std::uint16_t>(row)
                                     : Load<std::uint32_t>(row);
        std::transform(words.begin(), words.end(), numbers.begin(),
                       [this](std::int64_t word)
                       { return ((word >> shift_ & mask_) ^ sign_) - sign_; });
      }

      // Whether the other one has the same in the bits that are not stored, wherever they hold
      // more than zeros or the sign
      bool HasSameUnusedBits(const SampleRow& other) const noexcept
      {
        for (std::size_t i = 0; i < words.size(); i++)
        {
          const std::int64_t unused = words[i] & unused_;
          const bool isPlain =
              unused == 0 || (shift_ == 0 && unused == unused_ && (words[i] & sign_) != 0);

          if (!isPlain && (image_.bitsAllocated != other.image_.bitsAllocated ||
                           unused != (other.words[i] & unused_)))
          {
            return false;
          }
        }

        return true;
      }

      // Each pixel of three numbers becomes one: its luminance, in thousandths
      void KeepLuminance()
      {
        const bool isYbr = GetDecodedColour(image_) == Photometric::YbrFull;

        for (std::size_t i = 0; i < image_.columns; i++)
        {
          const std::int64_t* const pixel = &numbers[3 * i];
          numbers[i] = isYbr ? 1000 * pixel[0] : 299 * pixel[0] + 587 * pixel[1] + 114 * pixel[2];
        }

        numbers.resize(image_.columns);
      }

      Numbers words;    // all bits allocated
      Numbers numbers;  // what the stored bits say

    private:
      template <typename Word>
      void Load(std::size_t row)
      {
        const auto* const bytes = reinterpret_cast<const unsigned char*>(image_.pixelData.data());
        const std::size_t samples = image_.samplesPerPixel;
        const std::size_t columns = image_.columns;
        const bool isPlanar = image_.planarConfiguration == 1;
        const std::size_t plane = isPlanar ? columns * image_.rows : 1;
        const std::size_t step = isPlanar ? 1 : samples;
        const std::size_t first =
            isPlanar ? row / image_.rows * samples * plane + row % image_.rows * columns
                     : row * columns * samples;
        numbers.resize(words.size());

        for (std::size_t sample = 0; sample < samples; sample++)
        {
          for (std::size_t column = 0; column < columns; column++)
          {
            const std::size_t index = first + sample * plane + column * step;
            words[column * samples + sample] =
                boost::endian::endian_load<Word, sizeof(Word), boost::endian::order::little>(
                    bytes + index * sizeof(Word));
          }
        }
      }

      const ImageDescription& image_;
      const int shift_;
      const std::int64_t mask_;
      const std::int64_t sign_;
      const std::int64_t unused_;
    };

    // The smallest and the largest of some samples
    struct Span
    {
      std::int64_t smallest = std::numeric_limits<std::int64_t>::max();
      std::int64_t largest = std::numeric_limits<std::int64_t>::min();

      void Widen(std::int64_t sample) noexcept
      {
        smallest = std::min(smallest, sample);
        largest = std::max(largest, sample);
      }
    };
  }

  bool IsComparable(const ImageDescription& image) noexcept
  {
    const std::string_view transferSyntax = image.transferSyntax;
    const std::optional<std::size_t> size = image.GetNativeSize();
    return image.kind == PixelDataKind::Native && size.has_value() &&
           image.pixelData.size() >= *size &&
           (transferSyntax == TransferSyntaxUid::IMPLICIT_LITTLE_ENDIAN ||
            transferSyntax == TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
  }

  std::string FindOtherAttributes(const ImageDescription& expected, const ImageDescription& actual)
  {
    struct Attribute
    {
      const char* name;
      std::uint32_t expected;
      std::uint32_t actual;
    };

    for (const Attribute& attribute :
         {Attribute{"Rows", expected.rows, actual.rows},
          {"Columns", expected.columns, actual.columns},
          {"Samples per Pixel", expected.samplesPerPixel, actual.samplesPerPixel},
          {"Number of Frames", expected.frames, actual.frames},
          {"Bits Allocated", expected.bitsAllocated, actual.bitsAllocated},
          {"Bits Stored", expected.bitsStored, actual.bitsStored},
          {"High Bit", expected.highBit, actual.highBit},
          {"Pixel Representation", expected.pixelRepresentation, actual.pixelRepresentation}})
    {
      if (attribute.expected != attribute.actual)
      {
        return std::string(attribute.name) + " is " + std::to_string(attribute.actual) +
               " instead of " + std::to_string(attribute.expected);
      }
    }

    return "";
  }

  std::string FindDifference(const ImageDescription& expected, const ImageDescription& actual,
                             double tolerance)
  {
    if (!IsComparable(expected) || !IsComparable(actual))
    {
      return "no native pixels in little endian, or too few";
    }

    std::string difference = FindOtherAttributes(expected, actual);

    if (!difference.empty())
    {
      return difference;
    }

    if (!HasSameColour(expected, actual))
    {
      return "Photometric Interpretation has changed";
    }

    if (GetRest(expected) != GetRest(actual))
    {
      return "the bytes behind the frames differ";
    }

    const std::size_t size = *expected.GetNativeSize();
    const bool isSameOrder =
        expected.samplesPerPixel == 1 || expected.planarConfiguration == actual.planarConfiguration;

    if (isSameOrder && size == *actual.GetNativeSize() &&
        std::memcmp(expected.pixelData.data(), actual.pixelData.data(), size) == 0)
    {
      return "";
    }

    if (expected.hasEmbeddedOverlays || !IsReadable(expected) || !IsReadable(actual))
    {
      return "the bytes of the pixels differ";
    }

    return MeasureError(expected, actual)->mean <= tolerance ? "" : "the pixels differ";
  }

  std::optional<PixelError> MeasureError(const ImageDescription& expected,
                                         const ImageDescription& actual, bool ofLuminance)
  {
    if (!IsComparable(expected) || !IsComparable(actual) || !IsReadable(expected) ||
        !IsReadable(actual) || !HasSameGeometry(expected, actual))
    {
      return std::nullopt;
    }

    const bool isLuminance =
        expected.samplesPerPixel == 3 && (ofLuminance || !HasSameColour(expected, actual));
    const std::size_t rows = std::size_t(expected.rows) * expected.frames;
    const std::size_t count =
        rows * expected.columns * (isLuminance ? 1 : expected.samplesPerPixel);
    const auto range = static_cast<double>(std::int64_t(1) << expected.bitsStored);
    const double steps = isLuminance ? 1000 * range : range;
    std::int64_t maximum = 0;
    Span span;
    Span spanOfPadding;
    PixelError error;
    SampleRow one(expected);
    SampleRow other(actual);

    for (std::size_t row = 0; row < rows; row++)
    {
      one.Read(row);
      other.Read(row);
      error.hasSameUnusedBits = error.hasSameUnusedBits && one.HasSameUnusedBits(other);

      for (const std::int64_t number : one.numbers)
      {
        const bool isPadding = expected.padding.has_value() && number >= expected.padding->first &&
                               number <= expected.padding->second;
        (isPadding ? spanOfPadding : span).Widen(number);
      }

      if (isLuminance)
      {
        one.KeepLuminance();
        other.KeepLuminance();
      }

      std::int64_t sum = 0;

      for (std::size_t i = 0; i < one.numbers.size(); i++)
      {
        const std::int64_t difference = std::abs(one.numbers[i] - other.numbers[i]);
        sum += difference;
        maximum = std::max(maximum, difference);
      }

      error.mean += static_cast<double>(sum);
    }

    error.mean /= static_cast<double>(count) * steps;
    error.maximum = static_cast<double>(maximum) / steps;
    span = span.smallest <= span.largest ? span : spanOfPadding;
    error.span = static_cast<double>(span.largest - span.smallest) / range;
    return error;
  }
}
