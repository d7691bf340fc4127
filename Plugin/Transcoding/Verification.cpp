// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Verification.h"

#include "Dicom/DicomFile.h"
#include "Dicom/PixelDataFlaw.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/LossyBound.h"
#include "Transcoding/PixelComparison.h"

namespace OrthancPerf
{
  namespace
  {
    using Comparison = PixelComparison::Verdict;
    using Engines = std::vector<const ITranscodingEngine*>;


    // The ways in which one file can be decoded, each tried when it is asked for, and once
    class Decodings
    {
    public:
      Decodings(const void* data, std::size_t size, const Engines& decoders, TimePoint deadline) :
        data_(data),
        size_(size),
        asItIs_(DescribeImage(data, size)),
        decoders_(decoders),
        deadline_(deadline)
      {
      }

      std::size_t GetCount() const noexcept
      {
        return IsComparable(asItIs_) ? 1 : decoders_.size();
      }

      const ImageDescription& GetUndecoded() const noexcept
      {
        return asItIs_;
      }

      // Points into this object, or into the file; nothing if the decoder can't do it
      std::optional<ImageDescription> Get(std::size_t index)
      {
        if (IsComparable(asItIs_))
        {
          return asItIs_;
        }

        while (results_.size() <= index)
        {
          const ITranscodingEngine& decoder = *decoders_[results_.size()];
          results_.push_back(decoder.Transcode(
              data_, size_, {TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN, 90, deadline_}));
        }

        const EngineResult& result = results_[index];

        if (result.outcome != TranscodingOutcome::Transcoded)
        {
          return std::nullopt;
        }

        return DescribeImage(result.file.data(), result.file.size());
      }

      // Whether it is one that should have done it, once Get has given nothing
      bool HasFailed(std::size_t index) const
      {
        return results_[index].outcome == TranscodingOutcome::Failed;
      }

      // Why it can't, once Get has given nothing
      std::string Explain(std::size_t index) const
      {
        return std::string(decoders_[index]->GetName()) +
               " does not decode it: " + results_[index].reason;
      }

      std::string GetDecoder(std::size_t index) const
      {
        return decoders_[index]->GetName();
      }

      std::string GetName(std::size_t index) const
      {
        return IsComparable(asItIs_) ? "" : std::string(decoders_[index]->GetName()) + " decodes: ";
      }

    private:
      const void* const data_;
      const std::size_t size_;
      const ImageDescription asItIs_;
      const Engines& decoders_;
      const TimePoint deadline_;
      std::vector<EngineResult> results_;
    };


    PixelComparison CompareLossy(const ImageDescription& source, const ImageDescription& result,
                                 const std::string& target, unsigned int quality)
    {
      PixelComparison geometry = CompareGeometry(source, result);

      if (geometry.verdict != Comparison::Same)
      {
        return geometry;
      }

      const std::optional<PixelError> error = MeasureError(source, result);

      if (!error.has_value())
      {
        return {Comparison::Incomparable, "no pixels that can be compared"};
      }

      const std::string problem =
          error->hasSameUnusedBits ? FindExcessiveError(*error, source.bitsStored, target, quality)
                                   : "bits that are not stored have changed";
      return {problem.empty() ? Comparison::Same : Comparison::Different, problem};
    }


    // The best that any decoder of the source gives
    PixelComparison CompareWithAll(Decodings& sources, const ImageDescription& result,
                                   const std::string& target,
                                   const std::optional<unsigned int>& lossyQuality)
    {
      PixelComparison worst = {Comparison::Incomparable, "the source can't be decoded"};

      for (std::size_t i = 0; i < sources.GetCount(); i++)
      {
        const std::optional<ImageDescription> source = sources.Get(i);

        if (source.has_value())
        {
          PixelComparison comparison = lossyQuality.has_value()
                                           ? CompareLossy(*source, result, target, *lossyQuality)
                                           : ComparePixels(*source, result);

          if (comparison.verdict == Comparison::Same)
          {
            return comparison;
          }

          if (worst.verdict != Comparison::Different)
          {
            worst = comparison;
          }
        }
      }

      return worst;
    }


    // By how much two decodings of one source may differ on average, as a fraction of the range of
    // samples: inverse cosine transforms and wavelets round, and so does what makes RGB of YBR. All
    // else, near-lossless JPEG-LS too (ITU-T T.87), says what each sample is.
    double GetRounding(const ImageDescription& source, const ImageDescription& one,
                       const ImageDescription& other)
    {
      constexpr double STEP_OF_8_BITS = 1.0 / 256;
      const TransferSyntax* const syntax = FindTransferSyntax(source.transferSyntax.data());
      const bool isRounded =
          one.photometricInterpretation != other.photometricInterpretation ||
          (syntax != nullptr && syntax->isLossy && syntax->codestream != CodestreamKind::JpegLs);
      return isRounded ? STEP_OF_8_BITS : 0;
    }


    // A decoder that is wrong finds its own mistakes in what was made of them, and takes them for
    // right. Empty if nobody contradicts.
    std::string FindDisagreement(Decodings& sources)
    {
      std::optional<ImageDescription> first;
      std::size_t indexOfFirst = 0;

      for (std::size_t i = 0; i < sources.GetCount(); i++)
      {
        const std::optional<ImageDescription> image = sources.Get(i);

        if (!image.has_value())
        {
          continue;
        }

        if (!first.has_value())
        {
          first = image;
          indexOfFirst = i;
          continue;
        }

        const double rounding = GetRounding(sources.GetUndecoded(), *first, *image);

        if (ComparePixels(*first, *image, rounding).verdict != Comparison::Same)
        {
          return sources.GetDecoder(indexOfFirst) + " and " + sources.GetDecoder(i) +
                 " decode what came to other pixels";
        }
      }

      return "";
    }
  }


  std::string FindFlaw(const DicomFileCheck& check, const std::string& transferSyntax,
                       const std::string& sopInstanceUid)
  {
    if (!check.IsAcceptable())
    {
      return std::string("wrote an unreadable file: ") + ToLabel(check.verdict);
    }

    if (transferSyntax != check.transferSyntaxUid.data())
    {
      return "wrote another transfer syntax than was asked for";
    }

    // Of a deflated file, only what File Meta Information says could be seen: in some files that
    // has been another one all along
    if (check.verdict == DicomFileVerdict::Unverified)
    {
      return "";
    }

    return sopInstanceUid == check.sopInstanceUid.data() ? "" : "wrote another SOP Instance UID";
  }


  std::string FindDamage(const TranscodedPair& pair, const Engines& decodersOfSource,
                         const Engines& decodersOfResult)
  {
    Decodings sources(pair.source, pair.sourceSize, decodersOfSource, pair.deadline);
    Decodings results(pair.file.data(), pair.file.size(), decodersOfResult, pair.deadline);

    // What decoders would not show
    for (const ImageDescription* const image : {&sources.GetUndecoded(), &results.GetUndecoded()})
    {
      std::string flaw =
          image->kind == PixelDataKind::Encapsulated ? FindPixelDataFlaw(*image) : "";

      if (!flaw.empty())
      {
        return flaw;
      }
    }

    std::string reason = "no engine decodes the result";

    for (std::size_t i = 0; i < results.GetCount(); i++)
    {
      const std::optional<ImageDescription> result = results.Get(i);

      if (!result.has_value())
      {
        reason = results.Explain(i);

        if (results.HasFailed(i))
        {
          break;  // so might viewers, and Orthanc itself
        }

        continue;
      }

      const PixelComparison comparison = CompareWithAll(
          sources, *result, results.GetUndecoded().transferSyntax.data(), pair.lossyQuality);
      reason = comparison.reason.empty() ? "" : results.GetName(i) + comparison.reason;

      if (comparison.verdict != Comparison::Incomparable)
      {
        break;
      }
    }

    return reason.empty() ? FindDisagreement(sources) : reason;
  }
}
