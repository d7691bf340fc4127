// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Verification.h"

#include "Dicom/PixelDataFlaw.h"
#include "Dicom/TransferSyntax.h"

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <sstream>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Decoders = std::vector<const ITranscodingEngine*>;

    // A file as one decoder shows it
    struct Decoding
    {
      std::string decoder;  // empty: its pixels need none
      EngineResult result;
      ImageDescription image;  // points into the result, or into the file
    };

    // The decodings by all of these; of a result, that of the first one which does not decline, as
    // viewers and Orthanc may fail as it does. "reason": why there is none.
    std::vector<Decoding> Decode(const ReceivedFile& file, const Decoders& decoders, bool isResult,
                                 TimePoint deadline, std::string& reason)
    {
      if (IsComparable(file.image))
      {
        return {{"", {}, file.image}};
      }

      const TranscodingTarget target = {TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN, 90, deadline};
      std::vector<Decoding> decodings;

      for (const ITranscodingEngine* const decoder : decoders)
      {
        EngineResult result = decoder->Transcode(file.bytes.data(), file.bytes.size(), target);
        const TranscodingOutcome outcome = result.outcome;

        if (outcome == TranscodingOutcome::Transcoded)
        {
          Decoding& decoding = decodings.emplace_back();
          decoding.decoder = decoder->GetName();
          decoding.result = std::move(result);
          const std::string& decoded = decoding.result.file;
          decoding.image = DescribeImage(decoded.data(), decoded.size());
        }
        else
        {
          reason = decoder->GetName() + (" does not decode it: " + result.reason);
        }

        if (isResult && outcome != TranscodingOutcome::Declined)
        {
          break;
        }
      }

      return decodings;
    }

    std::string FindExcessiveLoss(const ImageDescription& source, const ImageDescription& result,
                                  const std::string& target, unsigned int quality)
    {
      std::string other = FindOtherAttributes(source, result);

      if (!other.empty())
      {
        return other;
      }

      const bool isJpeg = GetCodestreamKind(target) == CodestreamKind::Jpeg;
      const std::optional<PixelError> error = MeasureError(source, result, isJpeg);

      if (!error.has_value())
      {
        return "no pixels that can be compared";
      }

      return error->hasSameUnusedBits
                 ? FindExcessiveError(*error, source.bitsStored, target, quality)
                 : "bits that are not stored have changed";
    }

    // By how much two decodings of one source may differ on average, as a fraction of the range of
    // samples: inverse cosine transforms and wavelets round. All else, near-lossless JPEG-LS too
    // (ITU-T T.87), says what each sample is.
    double GetRounding(const ImageDescription& source)
    {
      constexpr double STEP_OF_8_BITS = 1.0 / 256;
      const TransferSyntax* const syntax = FindTransferSyntax(source.transferSyntax);
      const bool isRounded =
          syntax != nullptr && syntax->isLossy && syntax->codestream != CodestreamKind::JpegLs;
      return isRounded ? STEP_OF_8_BITS : 0;
    }
  }

  std::string FindExcessiveError(const PixelError& error, unsigned int bitsStored,
                                 const std::string& transferSyntax, unsigned int quality)
  {
    const double range = std::pow(2.0, bitsStored);
    const double scale = std::clamp(quality, 1u, 100u);

    // In steps of a sample; steps, samples and colours are whole numbers
    constexpr double ROUNDING = 1;
    double mean = 0;
    double maximum = 0;

    if (transferSyntax == TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS)
    {
      mean = maximum = GetNearLosslessError(quality);
    }
    else if (transferSyntax == TransferSyntaxUid::JPEG_2000)
    {
      const double noise = error.span * range * std::pow(10.0, -GetJpeg2000Fidelity(quality) / 20);
      mean = 6 * noise + ROUNDING;
      maximum = 120 * noise + 2 * ROUNDING;
    }
    else
    {
      // Of table K.1, root of the mean square, as jpeg_quality_scaling() of libjpeg scales it
      constexpr double STEP = 67.09;
      mean = (scale < 50 ? 50 / scale : 2 - scale / 50) * STEP / 2 + ROUNDING;
      maximum = 8 * mean;
    }

    if (error.mean * range <= mean && error.maximum * range <= maximum)
    {
      return "";
    }

    std::ostringstream text;
    text << std::fixed << std::setprecision(1) << "the pixels are off by " << 100 * error.mean
         << " % on average and " << 100 * error.maximum << " % at most";
    return text.str();
  }

  std::string FindFlaw(const ReceivedFile& file, const std::string& transferSyntax,
                       const std::string& sopInstanceUid)
  {
    if (*file.problem != '\0')
    {
      return std::string("wrote an unreadable file: ") + file.problem;
    }

    if (transferSyntax != file.image.transferSyntax)
    {
      return "wrote another transfer syntax than was asked for";
    }

    // Of a deflated file, only what File Meta Information says could be seen: in some files that
    // has been another one all along
    return !file.IsComplete() || sopInstanceUid == file.identity.GetSopInstanceUid()
               ? ""
               : "wrote another SOP Instance UID";
  }

  std::string FindDamage(const TranscodedPair& pair, const Decoders& decodersOfSource,
                         const Decoders& decodersOfResult)
  {
    std::string flaw = pair.file.image.kind == PixelDataKind::Encapsulated
                           ? FindPixelDataFlaw(pair.file.image)
                           : "";

    if (!flaw.empty())
    {
      return flaw;  // that decoders would not show
    }

    std::string reason = "no engine decodes the result";
    const std::vector<Decoding> results =
        Decode(pair.file, decodersOfResult, true, pair.deadline, reason);

    if (results.empty())
    {
      return reason;
    }

    const std::vector<Decoding> sources =
        Decode(pair.source, decodersOfSource, false, pair.deadline, reason);
    const Decoding& result = results.front();
    reason = "the source can't be decoded";

    for (const Decoding& source : sources)
    {
      reason = pair.lossyQuality.has_value()
                   ? FindExcessiveLoss(source.image, result.image, pair.file.image.transferSyntax,
                                       *pair.lossyQuality)
                   : FindDifference(source.image, result.image);

      if (reason.empty())
      {
        break;
      }
    }

    if (!reason.empty())
    {
      return result.decoder.empty() ? reason : result.decoder + " decodes: " + reason;
    }

    // A decoder that is wrong finds its own mistakes in what was made of them, and takes them for
    // right
    for (const Decoding& other : sources)
    {
      if (!FindDifference(sources.front().image, other.image, GetRounding(pair.source.image))
               .empty())
      {
        return sources.front().decoder + " and " + other.decoder +
               " decode the received image to different pixels";
      }
    }

    return "";
  }
}
