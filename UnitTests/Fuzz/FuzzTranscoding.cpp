// SPDX-License-Identifier: GPL-3.0-or-later
// Any file on its way through the transcoder, with the encoder of this project and an engine that
// loses, swaps and changes what it reads and writes, as the input says: the instance stays as it
// came, or is the same one with the same pixels, as far as they are verified.
#include "Dicom/TransferSyntax.h"
#include "Fuzz/ImageInput.h"
#include "Fuzz/ImageWords.h"
#include "Fuzz/LyingEngine.h"
#include "Fuzz/Require.h"
#include "Ingest/FinishedInstance.h"
#include "Transcoding/EngineFailures.h"
#include "Transcoding/Native/NativeEngine.h"
#include "Transcoding/Transcoder.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>

using namespace OrthancPerf;

namespace
{
  namespace Uid = TransferSyntaxUid;
  using Outcome = TranscodingOutcome;

  const std::vector<std::string> SYNTAXES = {
      Uid::JPEG_LOSSLESS_SV1,      Uid::RLE_LOSSLESS,  Uid::JPEG_LS_LOSSLESS,
      Uid::EXPLICIT_LITTLE_ENDIAN, Uid::JPEG_BASELINE, Uid::JPEG_LS_NEAR_LOSSLESS,
  };

  // What the engine "dcmtk" is to do wrong, once the self-test is over
  Story& GetStory()
  {
    static Story story;
    return story;
  }

  // In the order in which "auto" begins. The last one tells the truth, but writes no compressed
  // files: whatever is accepted, it has seen.
  EngineDirectory& GetEngines()
  {
    static EngineDirectory* const engines = []
    {
      const std::set<std::string> all(SYNTAXES.begin(), SYNTAXES.end());
      auto liar = std::make_unique<LyingEngine>("dcmtk", all, &GetStory());
      auto honest =
          std::make_unique<LyingEngine>("gdcm", std::set<std::string>{Uid::EXPLICIT_LITTLE_ENDIAN});
      Engines installed;
      installed.push_back(std::make_unique<NativeEngine>(
          std::vector<const ITranscodingEngine*>{liar.get(), honest.get()}, 1));
      installed.push_back(std::move(liar));
      installed.push_back(std::move(honest));
      auto* const made = new EngineDirectory(std::move(installed));
      made->TestAll();
      Require(made->FindAll(Uid::EXPLICIT_LITTLE_ENDIAN).size() == 2);
      Require(made->FindAll(Uid::JPEG_LOSSLESS_SV1).size() == 2);
      return made;
    }();
    return *engines;
  }

  struct Source
  {
    std::string file;
    std::optional<std::string> plain;  // nothing: nobody knows
  };

  Source MakeSource(unsigned int syntax, Input& input)
  {
    const std::string rest = input.TakeRest();

    if (IsFile(rest))
    {
      try
      {
        return {rest, FakeCodec::Uncompress(rest)};
      }
      catch (const std::exception&)
      {
        return {rest, std::nullopt};
      }
    }

    const std::string plain = MakePlainImage(input);
    const std::string& uid = SYNTAXES[syntax % SYNTAXES.size()];
    return {uid == Uid::EXPLICIT_LITTLE_ENDIAN ? plain : LyingEngine::Write(plain, uid, {}), plain};
  }

  bool HasLegalBits(const ImageDescription& image)
  {
    return image.bitsStored >= 1 && image.bitsStored < 64 && image.highBit < image.bitsAllocated &&
           image.highBit + 1 >= image.bitsStored;
  }

  // What counts of a sample: its number, or all its bits if they hold more than that
  std::uint64_t GetCounted(std::uint64_t word, const ImageDescription& image, bool isNumber)
  {
    if (!HasLegalBits(image) || (image.hasEmbeddedOverlays && !isNumber))
    {
      return word;
    }

    const std::uint64_t mask = (std::uint64_t(1) << image.bitsStored) - 1;
    const std::uint64_t value = word >> (image.highBit + 1 - image.bitsStored) & mask;
    const bool isNegative =
        image.pixelRepresentation == 1 && (value >> (image.bitsStored - 1)) != 0;
    return isNegative ? value | ~mask : value;
  }

  // What counts of all samples, by pixel
  std::optional<std::vector<std::uint64_t>> ReadSamples(const ImageDescription& image,
                                                        bool areNumbers = false)
  {
    std::optional<std::vector<std::uint64_t>> values = ReadWords(image);

    if (values)
    {
      std::transform(values->begin(), values->end(), values->begin(),
                     [&](std::uint64_t word) { return GetCounted(word, image, areNumbers); });
    }

    return values;
  }

  bool HasSameShape(const ImageDescription& one, const ImageDescription& other)
  {
    return one.rows == other.rows && one.columns == other.columns && one.frames == other.frames &&
           one.samplesPerPixel == other.samplesPerPixel;
  }

  // What is to replace "plain" without loss
  void CheckPixels(const std::string& plain, const std::string& result, bool isCompressed)
  {
    const std::string decoded = FakeCodec::Uncompress(result);
    const ImageDescription expected = DescribeImage(plain.data(), plain.size());
    const ImageDescription found = DescribeImage(decoded.data(), decoded.size());
    Require(HasSameShape(expected, found));

    // Engines may make other colours of colours, which rounds: then a little is allowed for
    if (isCompressed && expected.samplesPerPixel > 1)
    {
      return;
    }

    Require(expected.samplesPerPixel > 1 ||
            expected.photometricInterpretation == found.photometricInterpretation);

    // A number may be written with more bits, and what lies beside it may be called no overlay
    const bool isSameBits = expected.bitsAllocated == found.bitsAllocated &&
                            expected.bitsStored == found.bitsStored &&
                            expected.highBit == found.highBit;
    const bool areNumbers =
        !isSameBits || expected.hasEmbeddedOverlays != found.hasEmbeddedOverlays;
    const auto samples = ReadSamples(expected, areNumbers);
    Require(expected.pixelRepresentation == found.pixelRepresentation);
    Require(isSameBits || (HasLegalBits(expected) && HasLegalBits(found)));
    Require(!samples || samples == ReadSamples(found, areNumbers));
  }

  // As libjpeg scales table K.1 of ITU-T T.81: no grey may be off by more than Verification.h says
  void CheckLoss(const std::string& plain, const std::string& result, unsigned int quality)
  {
    const std::string decoded = FakeCodec::Uncompress(result);
    const ImageDescription expected = DescribeImage(plain.data(), plain.size());
    const ImageDescription found = DescribeImage(decoded.data(), decoded.size());
    Require(HasSameShape(expected, found));

    const auto before = ReadSamples(expected);
    const auto after = ReadSamples(found);
    const bool isJpeg = DescribeImage(result.data(), result.size()).transferSyntax ==
                        std::string(Uid::JPEG_BASELINE);

    if (!isJpeg || !before || !after || expected.samplesPerPixel != 1 ||
        expected.bitsAllocated != 8 || expected.bitsStored != 8 || found.bitsStored != 8 ||
        expected.pixelRepresentation != 0 || found.pixelRepresentation != 0)
    {
      return;
    }

    const double scale = quality < 50 ? 50.0 / quality : 2 - quality / 50.0;

    for (std::size_t i = 0; i < before->size(); i++)
    {
      const auto off =
          std::abs(static_cast<double>((*before)[i]) - static_cast<double>((*after)[i]));
      Require(off <= 8 * (scale * 67.09 / 2 + 1) + 1e-6);
    }
  }

  void CheckReport(const Transcoding& transcoding, const Source& source)
  {
    const TranscodingReport& report = transcoding.report;
    const bool isTranscoded = report.outcome == Outcome::Transcoded;
    Require(isTranscoded != transcoding.file.empty());
    Require(isTranscoded == report.reason.empty());
    Require(report.targetSize == transcoding.file.size());
    Require(report.sourceSize == source.file.size());
    Require(report.duration.count() >= 0 && report.verification.count() >= 0);
    Require(!report.isLarger || report.outcome == Outcome::Declined);
  }

  void CheckFile(const Transcoding& transcoding, const Source& source,
                 const IngestTranscoding& settings)
  {
    const TranscodingReport& report = transcoding.report;
    const ReceivedFile before(source.file);
    const ReceivedFile after(transcoding.file);
    const ImageDescription& image = before.image;
    Require(*before.problem == '\0' && *after.problem == '\0');
    Require(report.target == after.image.transferSyntax);

    if (after.IsComplete())
    {
      Require(IsLossy(report.target) !=
              (before.identity.GetSopInstanceUid() == after.identity.GetSopInstanceUid()));
    }

    const bool isPlain = std::string_view(image.transferSyntax) == Uid::EXPLICIT_LITTLE_ENDIAN;
    const bool isTrusted = settings.verify || (report.engine == "native" && isPlain);

    if (!source.plain || !isTrusted || IsLossy(image.transferSyntax))
    {
      return;
    }

    if (IsLossy(report.target))
    {
      CheckLoss(*source.plain, transcoding.file, settings.lossyQuality);
    }
    else
    {
      CheckPixels(*source.plain, transcoding.file, !isPlain);
    }
  }

  IngestTranscoding ReadSettings(Input& input)
  {
    constexpr EngineChoice CHOICES[] = {EngineChoice::Automatic, EngineChoice::Native,
                                        EngineChoice::Dcmtk, EngineChoice::Gdcm};
    IngestTranscoding settings;
    settings.transferSyntax = SYNTAXES[input.Take() % SYNTAXES.size()];
    const unsigned int choices = input.Take();
    settings.engine = CHOICES[choices % 4];
    settings.verify = (choices & 4) != 0;
    settings.ofCompressed = (choices & 8) == 0;
    settings.lossyQuality = input.Take() % 100 + 1;
    return settings;
  }

  Lies ReadLies(Input& input)
  {
    Lies lies(input.Take() % 16);

    for (Lie& lie : lies)
    {
      lie.kind = input.Take() % 18;
      lie.place = input.Take();
      lie.amount = input.Take();
    }

    return lies;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  Input input(data, size);
  GetStory() = {};
  EngineDirectory& engines = GetEngines();
  const IngestTranscoding settings = ReadSettings(input);
  const unsigned int way = input.Take();
  const unsigned int syntax = input.Take();
  const Lies lies = ReadLies(input);
  const Source source = MakeSource(syntax, input);

  EngineFailures failures([](const std::string& line) { Require(IsPrintable(line)); });
  Transcoder transcoder(engines, &failures);
  transcoder.SetSettings(settings);

  // With "auto", the second one meets what was learnt from the first one
  for (unsigned int i = 0; i <= way % 2; i++)
  {
    GetStory() = {true, lies, {}};
    const Transcoding transcoding =
        (way & 4) != 0
            ? transcoder.TranscodeTo(ReceivedFile(source.file),
                                     {settings.transferSyntax, SYNTAXES[way / 8 % SYNTAXES.size()]})
            : transcoder.TranscodeIncoming(ReceivedFile(source.file), [way](const InstanceIdentity&)
                                           { return (way & 2) != 0; });
    failures.OnEnd(transcoding.report);
    CheckReport(transcoding, source);

    if (!transcoding.file.empty())
    {
      CheckFile(transcoding, source, settings);
    }
  }
  return 0;
}
