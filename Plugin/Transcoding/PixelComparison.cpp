// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/PixelComparison.h"

#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/PixelDataFlaw.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    using Verdict = PixelComparison::Verdict;

    constexpr std::size_t MAXIMUM_SAMPLES = 4;
    using Pixel = std::array<double, MAXIMUM_SAMPLES>;  // exact: samples have up to 32 bits


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


    std::size_t CountPixels(const ImageDescription& image)
    {
      return std::size_t(image.rows) * image.columns * image.frames;
    }


    // Bytes of the frames when no pixels share a sample
    std::size_t GetFullSize(const ImageDescription& image)
    {
      const std::size_t bits = std::size_t(image.samplesPerPixel) * image.bitsAllocated;
      return (CountPixels(image) * bits + 7) / 8;
    }


    // Decoders fill in the samples that pixels share, and some leave the name of the colours as it
    // was. Only for images that are comparable.
    bool HasAllSamples(const ImageDescription& image)
    {
      return image.pixelData.size() >= GetFullSize(image);
    }


    // Two pixels share their chrominance: DICOM PS3.3 section C.7.6.3.1.2
    bool SharesChrominance(const ImageDescription& image)
    {
      const Photometric photometric = ParsePhotometric(image.photometricInterpretation);
      return image.samplesPerPixel == 3 && image.bitsAllocated == 8 && image.columns % 2 == 0 &&
             image.planarConfiguration == 0 && !HasAllSamples(image) &&
             (photometric == Photometric::YbrFull422 || photometric == Photometric::YbrPartial422);
    }


    std::size_t GetComparedSize(const ImageDescription& image)
    {
      return HasAllSamples(image) ? GetFullSize(image) : *image.GetNativeSize();
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
        isSubsampled_(SharesChrominance(image)),
        shift_(std::max(0, image.highBit + 1 - image.bitsStored)),
        mask_((std::uint64_t(1) << image.bitsStored) - 1),
        sign_(image.pixelRepresentation == 1 ? std::uint64_t(1) << (image.bitsStored - 1) : 0),
        unused_(((std::uint64_t(1) << image.bitsAllocated) - 1) & ~(mask_ << shift_))
      {
      }

      Pixel Read(std::size_t pixel) const noexcept
      {
        Pixel values = {};

        for (std::size_t i = 0; i < samples_; i++)
        {
          const std::uint64_t value = ReadWord(pixel, i) >> shift_ & mask_;
          values[i] = static_cast<double>(static_cast<std::int64_t>(value ^ sign_) -
                                          static_cast<std::int64_t>(sign_));
        }

        return values;
      }

      // All bits allocated
      std::uint64_t ReadWord(std::size_t pixel, std::size_t sample) const noexcept
      {
        const std::size_t index = GetIndex(pixel, sample);
        std::uint64_t word = 0;

        for (std::size_t i = 0; i < width_; i++)
        {
          word |= std::uint64_t(bytes_[index * width_ + i]) << (8 * i);
        }

        return word;
      }

      // Of a word
      std::uint64_t GetUnusedMask() const noexcept
      {
        return unused_;
      }

      // Whether the bits of the word that are not stored are zero, or what a negative number has
      bool IsPlain(std::uint64_t word) const noexcept
      {
        const std::uint64_t unused = word & unused_;
        return unused == 0 || (shift_ == 0 && unused == unused_ && (word & sign_) != 0);
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

      const std::uint8_t* const bytes_;
      const std::size_t width_;
      const std::size_t samples_;
      const std::size_t pixelsOfFrame_;
      const bool isPlanar_;
      const bool isSubsampled_;
      const int shift_;
      const std::uint64_t mask_;
      const std::uint64_t sign_;
      const std::uint64_t unused_;
    };


    // Whether PixelReader is made for it: whole bytes, and bits where they belong
    bool IsReadable(const ImageDescription& image)
    {
      const bool hasWidth =
          image.bitsAllocated == 8 || image.bitsAllocated == 16 || image.bitsAllocated == 32;
      return hasWidth && image.HasLegalBits() && (HasAllSamples(image) || SharesChrominance(image));
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


    // A pixel, and what luminance it has: DICOM PS3.3 section C.7.6.3.1.2, YBR_FULL
    struct Colour
    {
      Pixel samples;
      double luminance;
    };


    class ColourReader
    {
    public:
      // "isConverted": whether to see YBR_FULL as RGB
      ColourReader(const ImageDescription& image, bool isConverted) :
        pixels_(image),
        isYbr_(GetDecodedColour(image) == Photometric::YbrFull),
        isConverted_(isConverted && isYbr_),
        isColour_(image.samplesPerPixel == 3),
        range_(std::pow(2.0, image.bitsStored))
      {
      }

      Colour Read(std::size_t pixel) const
      {
        const Pixel samples = pixels_.Read(pixel);
        const double luminance = isColour_ && !isYbr_
                                     ? 0.299 * samples[0] + 0.587 * samples[1] + 0.114 * samples[2]
                                     : samples[0];
        return {isConverted_ ? ToRgb(samples) : samples, luminance};
      }

    private:
      Pixel ToRgb(const Pixel& samples) const
      {
        const double blue = samples[1] - range_ / 2;
        const double red = samples[2] - range_ / 2;
        Pixel rgb = {samples[0] + 1.402 * red, samples[0] - 0.344136 * blue - 0.714136 * red,
                     samples[0] + 1.772 * blue};

        for (double& sample : rgb)
        {
          sample = std::clamp(sample, 0.0, range_ - 1);
        }

        return rgb;
      }

      const PixelReader pixels_;
      const bool isYbr_;
      const bool isConverted_;
      const bool isColour_;
      const double range_;
    };


    // Between the smallest and the largest of some samples
    class SpanMeter
    {
    public:
      explicit SpanMeter(const ImageDescription& image) : padding_(image.padding)
      {
      }

      void Add(double sample)
      {
        all_.Widen(sample);

        if (padding_.has_value() && (sample < padding_->first || sample > padding_->second))
        {
          unpadded_.Widen(sample);
        }
      }

      double Get() const
      {
        return unpadded_.IsEmpty() ? all_.GetSpan() : unpadded_.GetSpan();
      }

    private:
      struct Range
      {
        double smallest = std::numeric_limits<double>::max();
        double largest = std::numeric_limits<double>::lowest();

        void Widen(double sample)
        {
          smallest = std::min(smallest, sample);
          largest = std::max(largest, sample);
        }

        bool IsEmpty() const
        {
          return smallest > largest;
        }

        double GetSpan() const
        {
          return largest - smallest;
        }
      };

      const std::optional<std::pair<std::int32_t, std::int32_t>> padding_;
      Range all_;
      Range unpadded_;  // without padding in the image: empty
    };
  }


  bool IsComparable(const ImageDescription& image) noexcept
  {
    const std::string_view transferSyntax = image.transferSyntax.data();
    const std::optional<std::size_t> size = image.GetNativeSize();
    return image.kind == PixelDataKind::Native && size.has_value() &&
           image.pixelData.size() >= *size &&
           (transferSyntax == TransferSyntaxUid::IMPLICIT_LITTLE_ENDIAN ||
            transferSyntax == TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
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

    const bool isConverted = !HasSameColour(expected, actual);
    const ColourReader expectedPixels(expected, isConverted);
    const ColourReader actualPixels(actual, isConverted);
    const std::size_t samples = std::min<std::size_t>(expected.samplesPerPixel, 3);
    const std::size_t count = CountPixels(expected);
    PixelError error;
    SpanMeter span(expected);

    for (std::size_t i = 0; i < count; i++)
    {
      const Colour first = expectedPixels.Read(i);
      const Colour second = actualPixels.Read(i);
      const double luminance = std::abs(first.luminance - second.luminance);
      error.meanOfLuminance += luminance;
      error.maximumOfLuminance = std::max(error.maximumOfLuminance, luminance);

      for (std::size_t sample = 0; sample < samples; sample++)
      {
        const double difference = std::abs(first.samples[sample] - second.samples[sample]);
        error.mean += difference;
        error.maximum = std::max(error.maximum, difference);
        span.Add(first.samples[sample]);
      }
    }

    const double range = std::pow(2.0, expected.bitsStored);
    error.mean /= static_cast<double>(count * samples) * range;
    error.maximum /= range;
    error.meanOfLuminance /= static_cast<double>(count) * range;
    error.maximumOfLuminance /= range;
    error.span = span.Get() / range;
    return error;
  }


  bool HasSameUnusedBits(const ImageDescription& expected, const ImageDescription& actual)
  {
    const PixelReader expectedPixels(expected);
    const PixelReader actualPixels(actual);
    const std::uint64_t unused = expectedPixels.GetUnusedMask();
    const std::size_t pixels = unused == 0 ? 0 : CountPixels(expected);

    for (std::size_t pixel = 0; pixel < pixels; pixel++)
    {
      for (std::size_t sample = 0; sample < expected.samplesPerPixel; sample++)
      {
        const std::uint64_t word = expectedPixels.ReadWord(pixel, sample);

        if (!expectedPixels.IsPlain(word) &&
            (expected.bitsAllocated != actual.bitsAllocated ||
             ((word ^ actualPixels.ReadWord(pixel, sample)) & unused) != 0))
        {
          return false;
        }
      }
    }

    return true;
  }
}
