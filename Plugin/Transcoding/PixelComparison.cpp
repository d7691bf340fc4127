// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/PixelComparison.h"

#include "Dicom/PixelDataFlaw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace OrthancPerf
{
  namespace
  {
    using Verdict = PixelComparison::Verdict;

    constexpr std::size_t MAXIMUM_SAMPLES = 4;
    using Pixel = std::array<std::int64_t, MAXIMUM_SAMPLES>;


    struct Attribute
    {
      const char* name;
      std::uint32_t expected;
      std::uint32_t actual;
    };


    PixelComparison FindDifference(std::initializer_list<Attribute> attributes)
    {
      for (const Attribute& attribute : attributes)
      {
        if (attribute.expected != attribute.actual)
        {
          return {Verdict::Different, std::string(attribute.name) + " is " +
                                          std::to_string(attribute.actual) + " instead of " +
                                          std::to_string(attribute.expected)};
        }
      }

      return {Verdict::Same, ""};
    }


    // Photometric interpretations that say the same of pixels that are decoded: the transforms of
    // JPEG 2000 give RGB, and chrominance has been interpolated
    std::string_view GetDecodedColour(std::string_view photometricInterpretation)
    {
      if (photometricInterpretation == "YBR_RCT" || photometricInterpretation == "YBR_ICT")
      {
        return "RGB";
      }

      return photometricInterpretation == "YBR_FULL_422" ? "YBR_FULL" : photometricInterpretation;
    }


    bool HasSameColour(const ImageDescription& expected, const ImageDescription& actual)
    {
      return GetDecodedColour(expected.photometricInterpretation) ==
             GetDecodedColour(actual.photometricInterpretation);
    }


    std::size_t CountPixels(const ImageDescription& image)
    {
      return std::size_t(image.rows) * image.columns * image.frames;
    }


    // Decoders fill in the samples that pixels share, and some leave the name of the colours as it
    // was. Only for images that are comparable.
    bool HasAllSamples(const ImageDescription& image)
    {
      const std::size_t bits = std::size_t(image.samplesPerPixel) * image.bitsAllocated;
      return image.pixelData.size() >= (CountPixels(image) * bits + 7) / 8;
    }


    // Two pixels share their chrominance: DICOM PS3.3 section C.7.6.3.1.2
    bool IsSubsampled(const ImageDescription& image)
    {
      return image.samplesPerPixel == 3 && image.bitsAllocated == 8 && image.columns % 2 == 0 &&
             image.planarConfiguration == 0 && !HasAllSamples(image) &&
             (image.photometricInterpretation == "YBR_FULL_422" ||
              image.photometricInterpretation == "YBR_PARTIAL_422");
    }


    std::size_t GetComparedSize(const ImageDescription& image)
    {
      const std::size_t bits = std::size_t(image.samplesPerPixel) * image.bitsAllocated;
      return HasAllSamples(image) ? (CountPixels(image) * bits + 7) / 8 : *image.GetNativeSize();
    }


    // What follows the frames, if it is more than padding
    std::string_view GetRest(const ImageDescription& image)
    {
      const std::size_t size = GetComparedSize(image);
      const std::string_view rest = image.pixelData.substr(size);
      return IsPixelPadding(rest, size / image.frames) ? std::string_view() : rest;
    }


    // Reads pixels of 8, 16 or 32 bits a sample, whichever way they are arranged
    class PixelReader
    {
    public:
      explicit PixelReader(const ImageDescription& image) :
        bytes_(reinterpret_cast<const std::uint8_t*>(image.pixelData.data())),
        width_(image.bitsAllocated / 8),
        samples_(image.samplesPerPixel),
        pixelsOfFrame_(std::size_t(image.rows) * image.columns),
        isPlanar_(image.planarConfiguration == 1),
        isSubsampled_(IsSubsampled(image)),
        shift_(std::max(0, image.highBit + 1 - image.bitsStored)),
        mask_((std::uint64_t(1) << image.bitsStored) - 1),
        sign_(image.pixelRepresentation == 1 ? std::uint64_t(1) << (image.bitsStored - 1) : 0)
      {
      }

      Pixel Read(std::size_t pixel) const noexcept
      {
        Pixel values = {};

        for (std::size_t i = 0; i < samples_; i++)
        {
          values[i] = ToValue(GetIndex(pixel, i));
        }

        return values;
      }

    private:
      std::size_t GetIndex(std::size_t pixel, std::size_t sample) const noexcept
      {
        if (isSubsampled_)
        {
          // Y1 Y2 Cb Cr
          return pixel / 2 * 4 + (sample == 0 ? pixel % 2 : sample + 1);
        }

        if (isPlanar_)
        {
          return (pixel / pixelsOfFrame_ * samples_ + sample) * pixelsOfFrame_ +
                 pixel % pixelsOfFrame_;
        }

        return pixel * samples_ + sample;
      }

      std::int64_t ToValue(std::size_t index) const noexcept
      {
        std::uint64_t word = 0;

        for (std::size_t i = 0; i < width_; i++)
        {
          word |= std::uint64_t(bytes_[index * width_ + i]) << (8 * i);
        }

        const std::uint64_t value = word >> shift_ & mask_;
        return static_cast<std::int64_t>(value ^ sign_) - static_cast<std::int64_t>(sign_);
      }

      const std::uint8_t* const bytes_;
      const std::size_t width_;
      const std::size_t samples_;
      const std::size_t pixelsOfFrame_;
      const bool isPlanar_;
      const bool isSubsampled_;
      const int shift_;
      const std::uint64_t mask_;
      const std::uint64_t sign_;
    };


    // Whether PixelReader is made for it: whole bytes, and bits where they belong
    bool IsReadable(const ImageDescription& image)
    {
      const bool hasWidth =
          image.bitsAllocated == 8 || image.bitsAllocated == 16 || image.bitsAllocated == 32;
      return hasWidth && image.bitsStored >= 1 && image.bitsStored <= image.bitsAllocated &&
             image.highBit < image.bitsAllocated && image.highBit + 1 >= image.bitsStored &&
             (HasAllSamples(image) || IsSubsampled(image));
    }


    PixelComparison CompareEachPixel(const ImageDescription& expected,
                                     const ImageDescription& actual)
    {
      const PixelReader expectedPixels(expected);
      const PixelReader actualPixels(actual);
      const std::size_t count = CountPixels(expected);

      for (std::size_t i = 0; i < count; i++)
      {
        if (expectedPixels.Read(i) != actualPixels.Read(i))
        {
          return {Verdict::Different, "the pixels differ, first number " + std::to_string(i) +
                                          " of " + std::to_string(count)};
        }
      }

      return {Verdict::Same, ""};
    }


    // DICOM PS3.3 section C.7.6.3.1.2, YBR_FULL
    std::array<double, 3> ToRgb(const Pixel& pixel, bool isYbr)
    {
      const auto first = static_cast<double>(pixel[0]);
      const auto second = static_cast<double>(pixel[1]);
      const auto third = static_cast<double>(pixel[2]);

      if (!isYbr)
      {
        return {first, second, third};
      }

      const double blue = second - 128;
      const double red = third - 128;
      return {first + 1.402 * red, first - 0.344136 * blue - 0.714136 * red, first + 1.772 * blue};
    }
  }


  bool IsComparable(const ImageDescription& image) noexcept
  {
    const std::string_view transferSyntax = image.transferSyntax.data();
    const std::optional<std::size_t> size = image.GetNativeSize();
    return image.kind == PixelDataKind::Native && size.has_value() &&
           image.pixelData.size() >= *size &&
           (transferSyntax == "1.2.840.10008.1.2" || transferSyntax == "1.2.840.10008.1.2.1");
  }


  PixelComparison CompareGeometry(const ImageDescription& expected, const ImageDescription& actual)
  {
    return FindDifference({{"Rows", expected.rows, actual.rows},
                           {"Columns", expected.columns, actual.columns},
                           {"Samples per Pixel", expected.samplesPerPixel, actual.samplesPerPixel},
                           {"Number of Frames", expected.frames, actual.frames}});
  }


  PixelComparison ComparePixels(const ImageDescription& expected, const ImageDescription& actual)
  {
    if (!IsComparable(expected) || !IsComparable(actual))
    {
      return {Verdict::Incomparable, "no native pixels in little endian, or too few"};
    }

    PixelComparison comparison = CompareGeometry(expected, actual);

    if (comparison.verdict == Verdict::Same)
    {
      comparison = FindDifference(
          {{"Bits Allocated", expected.bitsAllocated, actual.bitsAllocated},
           {"Bits Stored", expected.bitsStored, actual.bitsStored},
           {"High Bit", expected.highBit, actual.highBit},
           {"Pixel Representation", expected.pixelRepresentation, actual.pixelRepresentation}});
    }

    if (comparison.verdict != Verdict::Same)
    {
      return comparison;
    }

    if (!HasSameColour(expected, actual))
    {
      // Decoders may turn YBR into RGB, but grey stays grey
      return {expected.samplesPerPixel == 1 ? Verdict::Different : Verdict::Incomparable,
              "Photometric Interpretation has changed"};
    }

    if (GetRest(expected) != GetRest(actual))
    {
      return {Verdict::Different, "the bytes behind the frames differ"};
    }

    const std::size_t size = GetComparedSize(expected);
    const bool isSameOrder =
        expected.samplesPerPixel == 1 || expected.planarConfiguration == actual.planarConfiguration;

    if (isSameOrder && size == GetComparedSize(actual) &&
        std::memcmp(expected.pixelData.data(), actual.pixelData.data(), size) == 0)
    {
      return {Verdict::Same, ""};
    }

    if (expected.hasEmbeddedOverlays || !IsReadable(expected) || !IsReadable(actual))
    {
      return {Verdict::Different, "the bytes of the pixels differ"};
    }

    return CompareEachPixel(expected, actual);
  }


  std::optional<PixelError> MeasureError(const ImageDescription& expected,
                                         const ImageDescription& actual)
  {
    if (!IsComparable(expected) || !IsComparable(actual) || !IsReadable(expected) ||
        !IsReadable(actual) || CompareGeometry(expected, actual).verdict != Verdict::Same)
    {
      return std::nullopt;
    }

    const PixelReader expectedPixels(expected);
    const PixelReader actualPixels(actual);
    const bool isExpectedYbr = GetDecodedColour(expected.photometricInterpretation) == "YBR_FULL";
    const bool isActualYbr = GetDecodedColour(actual.photometricInterpretation) == "YBR_FULL";
    const std::size_t samples = std::min<std::size_t>(expected.samplesPerPixel, 3);
    const std::size_t count = CountPixels(expected);
    double sum = 0;
    double largest = 0;

    for (std::size_t i = 0; i < count; i++)
    {
      const auto first = ToRgb(expectedPixels.Read(i), isExpectedYbr);
      const auto second = ToRgb(actualPixels.Read(i), isActualYbr);

      for (std::size_t sample = 0; sample < samples; sample++)
      {
        const double difference = std::abs(first[sample] - second[sample]);
        sum += difference;
        largest = std::max(largest, difference);
      }
    }

    const double range = std::pow(2.0, expected.bitsStored);
    return PixelError{sum / static_cast<double>(count * samples) / range, largest / range};
  }


  std::optional<double> MeasureMeanError(const ImageDescription& expected,
                                         const ImageDescription& actual)
  {
    const std::optional<PixelError> error = MeasureError(expected, actual);
    return error ? std::optional<double>(error->mean) : std::nullopt;
  }
}
