// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Obstacles.h"

#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/PixelDataFlaw.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    namespace Uid = TransferSyntaxUid;

    // JPEG_MAX_DIMENSION of libjpeg, thus of Orthanc and most viewers. The standard has 35 more
    // (ITU-T T.81 table B.2).
    constexpr std::size_t JPEG_SIDE = 65500;
    constexpr std::size_t ANY_SIDE = std::numeric_limits<std::uint16_t>::max();

    // Pixels. GDCM's encoders do not look at the end of their buffers, which are too small for
    // fewer: that of JPEG 2000 has twice the size of the pixels.
    constexpr std::size_t GDCM_JPEG_LS = 64;
    constexpr std::size_t GDCM_JPEG_2000 = 768;

    // What codecs hold, by the transfer syntax that they write: the one table of their limits
    struct CodecLimits
    {
      const char* target;
      std::string_view engine;     // whose limits these are; empty: of every codec
      unsigned int bitsAllocated;  // at most
      unsigned int fewestStored;   // Bits Stored: lossy compression leaves little of fewer
      unsigned int mostStored;
      bool hasSigns;
      bool hasPalette;           // loss would make other indices of indices
      std::size_t smallestSide;  // rows and columns
      std::size_t largestSide;
      std::size_t fewestPixels;  // of a frame
    };

    // clang-format off
    constexpr CodecLimits LIMITS[] = {
        // target                   engine  alloc.  stored  signs  palette sides       pixels
        {Uid::RLE_LOSSLESS,          "",     32,   1, 32,  true,  true,  1, ANY_SIDE,  1},
        {Uid::JPEG_BASELINE,         "",      8,   4,  8,  false, false, 1, JPEG_SIDE, 1},
        {Uid::JPEG_EXTENDED,         "",     16,   4, 12,  false, false, 1, JPEG_SIDE, 1},
        {Uid::JPEG_LOSSLESS,         "",     16,   1, 16,  true,  true,  1, JPEG_SIDE, 1},
        {Uid::JPEG_LOSSLESS_SV1,     "",     16,   1, 16,  true,  true,  1, JPEG_SIDE, 1},
        {Uid::JPEG_LS_LOSSLESS,      "",     16,   1, 16,  true,  true,  1, ANY_SIDE,  1},
        {Uid::JPEG_LS_LOSSLESS,      "gdcm", 16,   1, 16,  true,  true,  1, ANY_SIDE,  GDCM_JPEG_LS},
        {Uid::JPEG_LS_NEAR_LOSSLESS, "gdcm", 16,   4, 16,  true,  false, 1, ANY_SIDE,  GDCM_JPEG_LS},
        {Uid::JPEG_2000_LOSSLESS,    "gdcm", 16,   1, 16,  true,  true,  2, ANY_SIDE,  GDCM_JPEG_2000},
        {Uid::JPEG_2000,             "gdcm", 16,   4, 16,  true,  false, 2, ANY_SIDE,  GDCM_JPEG_2000},
    };
    // clang-format on

    // "engine": empty: the limits of every codec
    std::string FindExceededLimit(const ImageDescription& image, const std::string& target,
                                  std::string_view engine)
    {
      const CodecLimits* const found =
          std::find_if(std::begin(LIMITS), std::end(LIMITS),
                       [&](const CodecLimits& limits)
                       { return target == limits.target && engine == limits.engine; });

      if (found == std::end(LIMITS))
      {
        return "";
      }

      const CodecLimits& limits = *found;
      const std::size_t smaller = std::min(image.rows, image.columns);
      const std::size_t larger = std::max(image.rows, image.columns);

      if (image.bitsAllocated > limits.bitsAllocated || image.bitsStored > limits.mostStored)
      {
        return "the target holds at most " + std::to_string(limits.bitsAllocated) +
               " Bits Allocated and " + std::to_string(limits.mostStored) + " Bits Stored";
      }

      if (image.bitsStored < limits.fewestStored)
      {
        return "lossy compression would leave little of so few bits";
      }

      if (image.pixelRepresentation != 0 && !limits.hasSigns)
      {
        return "JPEG has no signed samples";
      }

      if (!limits.hasPalette &&
          ParsePhotometric(image.photometricInterpretation) == Photometric::PaletteColor)
      {
        return "indices into a palette can't be compressed with loss";
      }

      if (larger > limits.largestSide)
      {
        return "more than " + std::to_string(limits.largestSide) +
               " rows or columns, which libjpeg does not read";
      }

      return smaller < limits.smallestSide || smaller * larger < limits.fewestPixels
                 ? "too few pixels for the buffers of this codec"
                 : "";
    }

    // Whether it is known what decoded samples are
    bool HasKnownColours(const ImageDescription& image)
    {
      const Photometric decoded = GetDecoded(ParsePhotometric(image.photometricInterpretation));
      const bool hasOneSample = HasOneSample(decoded);
      return image.samplesPerPixel == (hasOneSample ? 1 : 3) &&
             (hasOneSample || decoded == Photometric::Rgb || decoded == Photometric::YbrFull);
    }

    // Of frames that are decoded or encoded. Their number and size are known to be right.
    std::string FindObstacleOfFrames(const ImageDescription& image, const std::string& target)
    {
      // Some megabytes may well come from a few bytes, gigabytes may not. Blank images compress
      // well, but hardly a thousand times.
      constexpr std::size_t ALWAYS = std::size_t(64) << 20;
      constexpr std::size_t RATIO = 1024;

      // Headers of frames take about a hundred bytes: 10 GB of them could come from one file
      constexpr std::size_t SMALL_FRAME = 128;
      constexpr std::size_t MANY_FRAMES = 4096;

      const std::size_t size = *image.GetNativeSize();

      const bool isEncapsulated = image.kind == PixelDataKind::Encapsulated;
      const std::string obstacle = FindFirst(
          {{image.hasNestedFragments, "a sequence has compressed pixels of its own: an icon, say"},
           {image.bitsAllocated % 8 != 0 || image.bitsAllocated > 32,
            "Bits Allocated is none of 8, 16, 24 and 32"},
           {!image.HasLegalBits(),
            "Bits Allocated, Bits Stored and High Bit contradict each other"},
           {!HasKnownColours(image),
            "Samples per Pixel and Photometric Interpretation are neither of one component, nor "
            "RGB or YBR_FULL"},
           {isEncapsulated && size > ALWAYS + RATIO * image.encapsulatedPixels.size(),
            "the image is too large for a file of this size"},
           {!isEncapsulated && IsSubsampled(ParsePhotometric(image.photometricInterpretation)),
            "uncompressed with subsampled colours"},
           {image.frames > MANY_FRAMES && size / image.frames < SMALL_FRAME,
            "the frames are so small that they would grow"}});
      return obstacle.empty() ? FindExceededLimit(image, target, "") : obstacle;
    }

    bool IsVideo(const TransferSyntax* syntax)
    {
      return syntax != nullptr && syntax->isVideo;
    }

    // SOP classes whose samples are labels or measurements, no brightness: DICOM PS3.3 section
    // C.8.20.2.2 ("not advisable to lossy compress a Segmentation"). Surface Segmentation has no
    // Pixel Data.
    constexpr std::pair<std::string_view, const char*> MEASURED[] = {
        {"1.2.840.10008.5.1.4.1.1.30", "a Parametric Map"},
        {"1.2.840.10008.5.1.4.1.1.66.4", "a Segmentation"},
        {"1.2.840.10008.5.1.4.1.1.66.7", "a Label Map Segmentation"},
        {"1.2.840.10008.5.1.4.1.1.66.8", "a Height Map Segmentation"},
        {"1.2.840.10008.5.1.4.1.1.481.2", "an RT Dose"}};

    enum class Picture
    {
      None,
      False,  // in some releases at least
      True    // or alike in every transfer syntax
    };

    // Whether Orthanc itself decodes its frames
    bool IsDecoded(const TransferSyntax* syntax)
    {
      return syntax != nullptr && syntax->isEncapsulated &&
             syntax->codestream != CodestreamKind::Jpeg2000;
    }

    Picture GetColours(const ImageDescription& image, const TransferSyntax* syntax)
    {
      const CodestreamKind kind = syntax == nullptr ? CodestreamKind::None : syntax->codestream;

      if (GetDecoded(ParsePhotometric(image.photometricInterpretation)) != Photometric::Rgb)
      {
        const bool isLossyJpeg = kind == CodestreamKind::Jpeg && syntax->isLossy;
        return isLossyJpeg ? Picture::True : IsDecoded(syntax) ? Picture::False : Picture::None;
      }

      return kind == CodestreamKind::Rle && image.planarConfiguration == 1 ? Picture::False
                                                                           : Picture::True;
    }

    Picture GetPicture(const ImageDescription& image)
    {
      const TransferSyntax* const syntax = FindTransferSyntax(image.transferSyntax);
      const bool isDecoded = IsDecoded(syntax);

      if (image.samplesPerPixel != 1 && image.samplesPerPixel != 3)
      {
        return Picture::None;
      }

      if (image.bitsStored == 8 && image.bitsAllocated > 8 && image.pixelRepresentation == 0)
      {
        return isDecoded ? Picture::None : Picture::False;
      }

      if (isDecoded && image.highBit + 1 != image.bitsStored)
      {
        return Picture::False;
      }

      return image.samplesPerPixel == 1 ? Picture::True : GetColours(image, syntax);
    }
  }

  std::string FindReasonToLeaveAlone(const ImageDescription& image, const std::string& target)
  {
    std::string reason = FindFirst({{target == image.transferSyntax, "in the target already"},
                                    {IsVideo(FindTransferSyntax(image.transferSyntax)), "a video"},
                                    {image.kind == PixelDataKind::None, "no pixel data"},
                                    {image.kind == PixelDataKind::Float,
                                     "Float Pixel Data, which no transfer syntax compresses"}});

    if (!reason.empty())
    {
      return reason;
    }

    for (const auto& [sopClassUid, name] : MEASURED)
    {
      if (IsLossy(target) && image.sopClassUid == sopClassUid)
      {
        return std::string(name) + ", of which loss would make another one";
      }
    }

    return "";
  }

  std::string FindObstacle(const ImageDescription& image, const std::string& target)
  {
    const TransferSyntax* const syntax = FindTransferSyntax(image.transferSyntax);

    // DICOM PS3.3 section C.7.6.3.1.2: some colours are of JPEG 2000 only, and viewers differ in
    // what they show. Of other codestreams, their headers tell.
    const bool hasHeaders = syntax != nullptr && syntax->codestream != CodestreamKind::None &&
                            syntax->codestream != CodestreamKind::Rle;
    std::string obstacle = FindFirst(
        {{IsVideo(syntax), "a video"},
         {!image.transferSyntax.empty() && syntax == nullptr,
          "in a transfer syntax that is not DICOM's"},
         {image.bitsAllocated > 16 && syntax != nullptr &&
              syntax->coding == DataSetCoding::ExplicitBigEndian,
          "the order of words in big endian pixels of more than 16 bits is uncertain"},
         {image.hasDigitalSignatures, "a digital signature, which would not hold any more"},
         {image.pixelRepresentation > 1 ||
              (image.samplesPerPixel > 1 && image.planarConfiguration > 1),
          "Pixel Representation or Planar Configuration is neither 0 nor 1"},
         {!hasHeaders && IsOfJpeg2000(ParsePhotometric(image.photometricInterpretation)),
          "uncompressed or RLE, with colours that only JPEG 2000 has"},
         {image.hasUnorderedElements, UNORDERED_ELEMENTS},
         {image.kind == PixelDataKind::Unknown,
          image.isDeflated ? "deflated, which is not transcoded" : NOT_LOOKED_THROUGH}});

    if (!obstacle.empty())
    {
      return obstacle;
    }

    if (image.kind == PixelDataKind::None || image.kind == PixelDataKind::Float)
    {
      return IsEncapsulated(target) ? "no Pixel Data to compress" : "";
    }

    const std::string flaw = FindPixelDataFlaw(image);
    const bool areFramesKept =
        image.kind == PixelDataKind::Native && !IsEncapsulated(target);  // as they are
    return flaw.empty() && !areFramesKept ? FindObstacleOfFrames(image, target) : flaw;
  }

  std::string FindObstacleOfEngine(const ImageDescription& image, const std::string& target,
                                   std::string_view engine)
  {
    return FindExceededLimit(image, target, engine);
  }

  EngineResult AskEngine(const ITranscodingEngine& engine, const ImageDescription& image,
                         std::string_view file, const TranscodingTarget& target)
  {
    std::string obstacle = FindObstacle(image, target.transferSyntax);

    if (obstacle.empty())
    {
      obstacle = FindObstacleOfEngine(image, target.transferSyntax, engine.GetName());
    }

    return obstacle.empty() ? engine.Transcode(file.data(), file.size(), target)
                            : EngineResult::MakeDeclined(obstacle);
  }

  std::string FindLossOfPicture(const ImageDescription& received, const std::string& target)
  {
    ImageDescription stored = received;
    stored.transferSyntax = target;
    stored.planarConfiguration = IsEncapsulated(target) ? 0 : received.planarConfiguration;
    return FindLossOfPicture(received, stored);
  }

  std::string FindLossOfPicture(const ImageDescription& received, const ImageDescription& stored)
  {
    const Picture picture = GetPicture(stored);
    const bool isNative = received.kind == PixelDataKind::Native;
    const bool hasPixels = isNative || received.kind == PixelDataKind::Encapsulated;
    const bool isAlike = (isNative && !IsEncapsulated(stored.transferSyntax)) ||
                         picture == Picture::True ||
                         (picture == Picture::None && GetPicture(received) == Picture::None);

    if (!hasPixels || isAlike)
    {
      return "";
    }

    return picture == Picture::None
               ? "Orthanc would show no picture of it in this transfer syntax"
               : "Orthanc would show another picture of it in this transfer syntax";
  }
}
