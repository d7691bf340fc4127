// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Verification.h"

#include "Dicom/PixelDataFlaw.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/LossyBound.h"
#include "Transcoding/PixelComparison.h"

#include <utility>

namespace OrthancPerf
{
  namespace
  {
    using Engines = std::vector<const ITranscodingEngine*>;


    // A file as one decoder shows it
    struct Decoding
    {
      std::string decoder;  // empty: its pixels need none
      EngineResult result;
      ImageDescription image;  // points into the result, or into the file
    };


    Decoding Decode(std::string_view file, const ITranscodingEngine& decoder, TimePoint deadline)
    {
      Decoding decoding;
      decoding.decoder = decoder.GetName();
      decoding.result = decoder.Transcode(
          file.data(), file.size(), {TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN, 90, deadline});
      const std::string& decoded = decoding.result.file;
      decoding.image = DescribeImage(decoded.data(), decoded.size());
      return decoding;
    }


    // By the first decoder that covers it. Nothing, and a reason, if there is none, or if that one
    // fails: so might viewers, and Orthanc itself.
    std::optional<Decoding> DecodeResult(std::string_view file, const Engines& decoders,
                                         TimePoint deadline, std::string& reason)
    {
      reason = "no engine decodes the result";

      for (const ITranscodingEngine* const decoder : decoders)
      {
        Decoding decoding = Decode(file, *decoder, deadline);

        if (decoding.result.outcome == TranscodingOutcome::Transcoded)
        {
          return decoding;
        }

        reason = decoding.decoder + " does not decode it: " + decoding.result.reason;

        if (decoding.result.outcome == TranscodingOutcome::Failed)
        {
          break;
        }
      }

      return std::nullopt;
    }


    // By all decoders that do it
    std::vector<Decoding> DecodeSource(std::string_view file, const Engines& decoders,
                                       TimePoint deadline)
    {
      std::vector<Decoding> decodings;

      for (const ITranscodingEngine* const decoder : decoders)
      {
        Decoding decoding = Decode(file, *decoder, deadline);

        if (decoding.result.outcome == TranscodingOutcome::Transcoded)
        {
          decodings.push_back(std::move(decoding));
        }
      }

      return decodings;
    }


    std::string FindExcessiveLoss(const ImageDescription& source, const ImageDescription& result,
                                  const std::string& target, unsigned int quality)
    {
      std::string geometry = FindOtherGeometry(source, result);

      if (!geometry.empty())
      {
        return geometry;
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


  std::string FindDamage(const TranscodedPair& pair, const Engines& decodersOfSource,
                         const Engines& decodersOfResult)
  {
    const ImageDescription& source = pair.source.image;
    const ImageDescription& made = pair.file.image;

    // What decoders would not show
    for (const ImageDescription* const image : {&source, &made})
    {
      std::string flaw =
          image->kind == PixelDataKind::Encapsulated ? FindPixelDataFlaw(*image) : "";

      if (!flaw.empty())
      {
        return flaw;
      }
    }

    std::string reason;
    const std::optional<Decoding> result =
        IsComparable(made) ? Decoding{"", {}, made}
                           : DecodeResult(pair.file.bytes, decodersOfResult, pair.deadline, reason);

    if (!result.has_value())
    {
      return reason;
    }

    const std::vector<Decoding> sources =
        IsComparable(source) ? std::vector<Decoding>{{"", {}, source}}
                             : DecodeSource(pair.source.bytes, decodersOfSource, pair.deadline);
    reason = "the source can't be decoded";

    for (const Decoding& decoding : sources)
    {
      reason = pair.lossyQuality.has_value()
                   ? FindExcessiveLoss(decoding.image, result->image, made.transferSyntax,
                                       *pair.lossyQuality)
                   : FindDifference(decoding.image, result->image);

      if (reason.empty())
      {
        break;
      }
    }

    if (!reason.empty())
    {
      return result->decoder.empty() ? reason : result->decoder + " decodes: " + reason;
    }

    // A decoder that is wrong finds its own mistakes in what was made of them, and takes them for
    // right
    for (const Decoding& other : sources)
    {
      if (!FindDifference(sources.front().image, other.image, GetRounding(source)).empty())
      {
        return sources.front().decoder + " and " + other.decoder +
               " decode what came to other pixels";
      }
    }

    return "";
  }
}
