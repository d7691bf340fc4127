// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/ReceivedFile.h"
#include "Dicom/TransferSyntax.h"
#include "Fuzz/EngineProcess.h"
#include "Fuzz/ImageInput.h"
#include "Fuzz/ImageWords.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/PixelComparison.h"
#include "Transcoding/Verification.h"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Nothing needs a gigabyte, and what is given back rests, but not for long, which takes time
extern "C" const char* __asan_default_options()
{
  return "quarantine_size_mb=4:allocator_release_to_os_interval_ms=-1:"
         "max_allocation_size_mb=1024:allocator_may_return_null=1";
}

namespace OrthancPerf
{
  // Any file through one of the programs of codec libraries: what it says is done has the same
  // pixels, or those that its loss allows, and what it has written it reads. A library may end the
  // process where it reads what a stranger has compressed. What it has decoded it has to compress,
  // unless the program declines.
  class ProgramCheck
  {
  public:
    ProgramCheck(EngineProcess& engine, std::string name) : engine_(engine), name_(std::move(name))
    {
    }

    void Run(Input& input)
    {
      const std::vector<TransferSyntax>& syntaxes = GetWritableSyntaxes();
      const TransferSyntax& target = syntaxes[input.Take() % syntaxes.size()];
      const unsigned int ways = input.Take();
      const unsigned int quality = input.Take() % 100 + 1;
      const Source source = MakeSource(input, syntaxes[ways % syntaxes.size()], quality);
      const ImageDescription image = Describe(source.file);
      const bool isUsual = image.transferSyntax != target.uid;

      if (image.GetNativeSize().value_or(0) > LARGEST)
      {
        return;  // that sizes have a limit is for unit tests: here it would take all the time
      }

      const Answer plain = Ask(source.file, EXPLICIT, quality, source.isOurs);
      const Answer made = Ask(source.file, target.uid, quality, !plain.isCrash && isUsual);
      Require(!source.isOurs || IsDone(plain) || !source.plain,
              "what it has compressed is read: " + plain.result.reason);

      if (!isUsual || !IsDone(made) || HasFlaw(source, made, target))
      {
        return;
      }

      CheckElements(source, made.result.file, target);

      if (IsRead(target))
      {
        CheckBack(source, plain, made, target, quality);
      }

      if (ways >= 128)
      {
        const Answer again = Ask(source.file, target.uid, quality, true);
        Require(again.result.file == made.result.file, "it does the same again");
      }
    }

  private:
    using Answer = EngineProcess::Answer;

    static constexpr const char* EXPLICIT = TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN;
    static constexpr std::size_t LARGEST = std::size_t(1) << 20;

    struct Source
    {
      std::string file;
      std::optional<std::string> plain;  // its pixels, if these are known
      bool isOurs = false;               // nothing in it is a stranger's but what samples there are
    };

    static void Require(bool condition, const std::string& what)
    {
      if (!condition)
      {
        std::fprintf(stderr, "Not so: %s\n", what.c_str());
        std::abort();
      }
    }

    static ImageDescription Describe(const std::string& file)
    {
      return DescribeImage(file.data(), file.size());
    }

    static bool IsDone(const Answer& answer)
    {
      return answer.result.outcome == TranscodingOutcome::Transcoded;
    }

    // As the plugin, which asks no engine then
    std::string FindObstacle(const std::string& file, const std::string& syntax) const
    {
      const ImageDescription image = Describe(file);

      if (syntax == image.transferSyntax)
      {
        return "";
      }

      const std::string obstacle = OrthancPerf::FindObstacle(image, syntax);
      return obstacle.empty() ? FindObstacleOfEngine(image, syntax, name_) : obstacle;
    }

    Answer Ask(const std::string& file, const std::string& syntax, unsigned int quality,
               bool isSafe)
    {
      const std::string obstacle = FindObstacle(file, syntax);
      const Answer answer = obstacle.empty() ? engine_.Transcode(file, syntax, quality)
                                             : Answer{EngineResult::MakeDeclined(obstacle)};
      const bool isDone = IsDone(answer);
      Require(!answer.isCrash || !isSafe, "nothing here ends the process");
      Require(isDone || answer.result.outcome == TranscodingOutcome::Declined ||
                  answer.result.outcome == TranscodingOutcome::Failed,
              "the outcome is one of an engine");
      Require(isDone != answer.result.file.empty() && isDone == answer.result.reason.empty(),
              "there is either a file or a reason");
      return answer;
    }

    // A file, or an image that the engine has compressed, with up to three bytes of it changed
    Source MakeSource(Input& input, const TransferSyntax& syntax, unsigned int quality)
    {
      Source source;
      source.file = input.TakeRest();

      if (IsFile(source.file))
      {
        return source;
      }

      std::vector<std::pair<std::size_t, unsigned int>> changes(input.Take() % 4);

      for (auto& [place, change] : changes)
      {
        place = input.Take();
        place += input.Take() * 256;
        change = input.Take();
      }

      const std::string plain = MakePlainImage(input);
      const Answer answer = Ask(plain, syntax.uid, quality, true);
      const bool isDone = IsDone(answer);
      source.isOurs = changes.empty();
      source.file = isDone ? answer.result.file : plain;

      if (changes.empty() && (!isDone || (IsRead(syntax) && !syntax.isLossy)))
      {
        source.plain = plain;
      }

      for (const auto& [place, change] : changes)
      {
        char& byte = source.file[source.file.size() - 1 - place % source.file.size()];
        byte = static_cast<char>(byte ^ change);
      }

      return source;
    }

    // Which keeps the plugin from taking it for the instance. There is none of what is not odd.
    static bool HasFlaw(const Source& source, const Answer& made, const TransferSyntax& target)
    {
      const ReceivedFile file(source.file);
      const std::string flaw =
          FindFlaw(ReceivedFile(made.result.file), target.uid, file.identity.GetSopInstanceUid());
      Require(!source.isOurs || flaw.empty() || *file.problem != '\0', flaw);
      return !flaw.empty();
    }

    // Deflated files are written, but not read
    static bool IsRead(const TransferSyntax& syntax)
    {
      return syntax.coding != DataSetCoding::Deflated;
    }

    void CheckBack(const Source& source, const Answer& plain, const Answer& made,
                   const TransferSyntax& target, unsigned int quality)
    {
      const Answer back = Ask(made.result.file, EXPLICIT, quality, true);
      Require(IsDone(back), "what it has written is read: " + back.result.reason);

      if (IsDone(plain))
      {
        ComparePlain(source, plain.result.file);
        Compare(Describe(plain.result.file), Describe(back.result.file), target, quality);
      }
    }

    static bool MayChange(DicomTag tag)
    {
      // (0028,2110): that it was lossy
      static const std::set<DicomTag> TAGS = {0x00280004, 0x00280006, 0x00282110,
                                              0x7fe00001, 0x7fe00002, TAG_PIXEL_DATA};
      return TAGS.count(tag) != 0 || (tag & 0xffff) == 0;  // or the length of a group
    }

    // Between compressed transfer syntaxes, and to and from them, the bytes of all other elements
    // stay
    static void CheckElements(const Source& source, const std::string& result,
                              const TransferSyntax& target)
    {
      const TransferSyntax* const syntax = FindTransferSyntax(Describe(source.file).transferSyntax);
      const bool isCompressed =
          syntax != nullptr && (syntax->isEncapsulated || target.isEncapsulated) &&
          syntax->coding == DataSetCoding::ExplicitLittleEndian && syntax->coding == target.coding;

      if (!isCompressed)
      {
        return;
      }

      const ReceivedFile before(source.file);
      const ReceivedFile after(result);
      std::string expected;
      std::string found;

      for (const DataElement& element : before.dataSet.elements)
      {
        expected += MayChange(element.tag) ? std::string_view() : element.bytes;
      }

      for (const DataElement& element : after.dataSet.elements)
      {
        found += MayChange(element.tag) ? std::string_view() : element.bytes;
      }

      Require(expected == found, "all other elements stay");
    }

    // All bits, also those that are not stored
    static void RequireSame(const ImageDescription& expected, const ImageDescription& found,
                            const std::string& what)
    {
      const auto words = ReadWords(expected);
      Require(FindOtherAttributes(expected, found).empty() &&
                  expected.bitsAllocated == found.bitsAllocated &&
                  expected.bitsStored == found.bitsStored && expected.highBit == found.highBit &&
                  expected.pixelRepresentation == found.pixelRepresentation,
              what + ", of the same kind");
      // DCMTK's decoders correct a term that is none, as "MONOCHROME2_"
      const Photometric colours = GetDecodedColours(expected);
      Require(colours == Photometric::Unknown || colours == GetDecodedColours(found),
              what + ", in their colours");
      Require(!words || words == ReadWords(found), what);
    }

    static Photometric GetDecodedColours(const ImageDescription& image)
    {
      return GetDecoded(ParsePhotometric(image.photometricInterpretation));
    }

    // Without loss so far
    static void ComparePlain(const Source& source, const std::string& decoded)
    {
      const ImageDescription image = Describe(source.plain ? *source.plain : source.file);

      if (IsComparable(image))
      {
        const ImageDescription found = Describe(decoded);
        RequireSame(image, found, "the pixels are those of the source");
      }
    }

    static void Compare(const ImageDescription& expected, const ImageDescription& found,
                        const TransferSyntax& target, unsigned int quality)
    {
      if (!target.isLossy)
      {
        if (IsComparable(expected))
        {
          RequireSame(expected, found, "all pixels come back");
        }

        return;
      }

      Require(FindOtherAttributes(expected, found).empty(),
              "an image of the same shape comes back");

      // JPEG 2000 has an aim rather than a bound
      if (target.codestream != CodestreamKind::Jpeg2000)
      {
        const std::optional<PixelError> error =
            MeasureError(expected, found, target.codestream == CodestreamKind::Jpeg);
        Require(!error ||
                    FindExcessiveError(*error, expected.bitsStored, target.uid, quality).empty(),
                "the loss is within its bound");
      }
    }

    EngineProcess& engine_;
    const std::string name_;
  };
}
