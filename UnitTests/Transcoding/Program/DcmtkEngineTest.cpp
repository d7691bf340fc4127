// SPDX-License-Identifier: GPL-3.0-or-later
// The real program, as Orthanc would run it
#if defined(PERF_HAS_DCMTK)

#include "BuildPaths.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ElementWriter.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/ImageDescription.h"
#include "Dicom/PixelDataFlaw.h"
#include "Dicom/PixelElement.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/PixelComparison.h"
#include "Transcoding/Program/AmbiguousValues.h"
#include "Transcoding/Worker/IsolatedEngine.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <gtest/gtest.h>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* IMPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2";
    constexpr const char* JPEG_EXTENDED = "1.2.840.10008.1.2.4.51";
    constexpr const char* JPEG_LOSSLESS_ANY = "1.2.840.10008.1.2.4.57";
    constexpr const char* JPEG_LS_NEAR = "1.2.840.10008.1.2.4.81";
    constexpr const char* JPEG_2000 = "1.2.840.10008.1.2.4.90";

    constexpr DicomTag BITS_STORED = 0x00280101;
    constexpr DicomTag PIXEL_DATA = 0x7fe00010;

    const std::vector<const char*> LOSSLESS = {IMPLICIT_LITTLE_ENDIAN,
                                               EXPLICIT_LITTLE_ENDIAN,
                                               DEFLATED,
                                               JPEG_LOSSLESS_ANY,
                                               JPEG_LOSSLESS,
                                               JPEG_LS,
                                               RLE};


    const IsolatedEngine& GetEngine()
    {
      static const IsolatedEngine engine("dcmtk", BuildPaths::GetDcmtkProgram(), 1);
      return engine;
    }


    EngineResult Transcode(const std::string& file, const char* target, unsigned int quality = 90)
    {
      const ImageDescription image = DescribeImage(file.data(), file.size());

      if (image.isDeflated &&
          target != std::string(EXPLICIT_LITTLE_ENDIAN))  // as the plugin does it
      {
        return Transcode(Transcode(file, EXPLICIT_LITTLE_ENDIAN).file, target, quality);
      }

      return AskEngine(GetEngine(), image, file, {target, quality});
    }


    // Empty if it is not transcoded
    std::string Make(const std::string& file, const char* target, unsigned int quality = 90)
    {
      const EngineResult result = Transcode(file, target, quality);
      EXPECT_EQ(result.outcome, TranscodingOutcome::Transcoded) << target << ": " << result.reason;
      return result.file;
    }


    std::string GetReason(const std::string& file, const char* target, TranscodingOutcome outcome)
    {
      const EngineResult result = Transcode(file, target);
      EXPECT_EQ(result.outcome, outcome) << target << ": " << result.reason;
      EXPECT_TRUE(result.file.empty());
      EXPECT_NE(result.reason, "");
      return result.reason;
    }


    void ExpectDeclined(const std::string& file, const char* target)
    {
      GetReason(file, target, TranscodingOutcome::Declined);
    }


    // Whether it is declined or fails
    void ExpectUndone(const std::string& file, const char* target)
    {
      const EngineResult result = Transcode(file, target);
      EXPECT_NE(result.outcome, TranscodingOutcome::Transcoded) << target;
      EXPECT_TRUE(result.file.empty());
      EXPECT_NE(result.reason, "");
    }


    ImageDescription Describe(const std::string& file)
    {
      return DescribeImage(file.data(), file.size());
    }


    void ExpectSamePixels(const std::string& expected, const std::string& actual,
                          const std::string& what)
    {
      EXPECT_EQ(FindDifference(Describe(expected), Describe(actual)), "") << what;
    }


    std::string Edit(const std::string& file, const FakeEngine::Change& change)
    {
      DataSetEditor editor(file.data(), file.size());
      change(editor);
      return editor.Write();
    }


    std::string MakeNumber(unsigned int number)
    {
      std::string value;
      AppendInteger(value, number, 2);
      return value;
    }


    SampleShape MakeShape(std::uint16_t allocated, std::uint16_t stored, bool isSigned = false,
                          std::uint16_t samples = 1, bool isPlanar = false,
                          std::uint32_t frames = 1)
    {
      SampleShape shape;
      shape.name = "";
      shape.bitsAllocated = allocated;
      shape.bitsStored = stored;
      shape.isSigned = isSigned;
      shape.samplesPerPixel = samples;
      shape.isPlanar = isPlanar;
      shape.frames = frames;
      return shape;
    }


    // Every depth, and colour, signs, planes, frames, and sizes that are hard
    std::vector<SampleShape> MakeShapes()
    {
      std::vector<SampleShape> shapes;

      for (std::uint16_t bits = 2; bits <= 16; bits++)
      {
        for (const bool isSigned : {false, true})
        {
          shapes.push_back(MakeShape(bits <= 8 ? 8 : 16, bits, isSigned));
        }
      }

      for (const std::uint16_t bits : {8, 16})
      {
        for (const bool isPlanar : {false, true})
        {
          shapes.push_back(MakeShape(bits, bits, false, 3, isPlanar));
          shapes.push_back(MakeShape(bits, bits, false, 3, isPlanar, 3));
        }
        shapes.push_back(MakeShape(bits, bits, false, 1, false, 5));
      }

      for (const std::uint16_t size : {1, 2, 3, 7, 256})
      {
        SampleShape shape = MakeShape(16, 12);
        shape.rows = size;
        shape.columns = static_cast<std::uint16_t>(size * 2 - 1);
        shapes.push_back(shape);
        shape.bitsAllocated = shape.bitsStored = 8;
        shapes.push_back(shape);
        shape.samplesPerPixel = 3;
        shapes.push_back(shape);
      }

      return shapes;
    }


    std::string ToText(const SampleShape& shape)
    {
      return std::to_string(shape.columns) + " x " + std::to_string(shape.rows) + " x " +
             std::to_string(shape.samplesPerPixel) + ", " + std::to_string(shape.bitsStored) +
             " in " + std::to_string(shape.bitsAllocated) + (shape.isSigned ? ", signed" : "") +
             (shape.isPlanar ? ", planar, " : ", ") + std::to_string(shape.frames) + " frames";
    }


    // Samples without any relation, which codecs make larger
    std::string MakeNoise(const SampleShape& shape)
    {
      const std::string file = MakeSampleImage(shape);
      std::string noise(Describe(file).GetNativeSize().value(), '\0');
      std::uint32_t state = 12345;

      for (char& byte : noise)
      {
        state = 1664525 * state + 1013904223;
        byte = static_cast<char>(state >> 24);
      }

      return Edit(file, [&](DataSetEditor& editor) { editor.Set(PIXEL_DATA, "OW", noise); });
    }


    // The image in this encapsulated transfer syntax, with that for its Pixel Data
    std::string MakeEncapsulated(const SampleShape& shape, const char* syntax,
                                 const std::vector<std::string>& fragments)
    {
      return Edit(MakeSampleImage(shape),
                  [&](DataSetEditor& editor)
                  {
                    editor.Set(0x00020010, "UI", syntax);
                    editor.SetEncoded(PIXEL_DATA, MakePixelElement(fragments));
                  });
    }
  }


  TEST(DcmtkEngine, LosslessSyntaxesKeepEveryPixel)
  {
    for (const SampleShape& shape : MakeShapes())
    {
      for (const std::string& file : {MakeSampleImage(shape), MakeNoise(shape)})
      {
        for (const char* target : LOSSLESS)
        {
          const std::string what = std::string(target) + ", " + ToText(shape);
          const std::string made = Make(file, target);
          EXPECT_EQ(std::string(Describe(made).transferSyntax.data()), target);
          ExpectSamePixels(file, Make(made, EXPLICIT_LITTLE_ENDIAN), what);
        }
      }
    }
  }


  TEST(DcmtkEngine, LosslessSyntaxesAreTurnedIntoEachOther)
  {
    for (const SampleShape& shape : {MakeShape(16, 12), MakeShape(8, 8, false, 3, true, 2)})
    {
      const std::string file = MakeSampleImage(shape);

      for (const char* source : LOSSLESS)
      {
        for (const char* target : LOSSLESS)
        {
          const std::string made = Make(Make(file, source), target);
          ExpectSamePixels(file, Make(made, EXPLICIT_LITTLE_ENDIAN),
                           std::string(source) + " to " + target);
        }
      }
    }
  }


  TEST(DcmtkEngine, BitsThatAreNotStoredStay)
  {
    // An overlay in the upper four bits, as of old
    const std::string noise = MakeNoise(MakeShape(16, 16));
    const std::string file = Edit(noise,
                                  [](DataSetEditor& editor)
                                  {
                                    editor.Set(BITS_STORED, "US", MakeNumber(12));
                                    editor.Set(0x00280102, "US", MakeNumber(11));
                                    editor.Set(0x60000010, "US", MakeNumber(25));
                                    editor.Set(0x60000011, "US", MakeNumber(33));
                                    editor.Set(0x60000100, "US", MakeNumber(16));
                                    editor.Set(0x60000102, "US", MakeNumber(12));
                                  });

    for (const char* target : LOSSLESS)
    {
      const std::string back = Make(Make(file, target), EXPLICIT_LITTLE_ENDIAN);
      EXPECT_TRUE(Describe(back).pixelData == Describe(file).pixelData) << target;
    }
  }


  TEST(DcmtkEngine, TheRestOfTheDataSetStays)
  {
    const std::string file = Edit(MakeSampleImage(MakeShape(16, 12)),
                                  [](DataSetEditor& editor)
                                  {
                                    editor.Set(0x00082111, "ST", "Once derived");
                                    editor.Set(0x00090010, "LO", "SOMEBODY");
                                    editor.Set(0x00091001, "OB", "private ");
                                    editor.Set(0x00020016, "AE", "SENDER");
                                  });

    for (const char* target : LOSSLESS)
    {
      const std::string back = Make(Make(file, target), EXPLICIT_LITTLE_ENDIAN);
      const DataSetEditor before(file.data(), file.size());
      const DataSetEditor after(back.data(), back.size());
      EXPECT_EQ(before.GetElements().size(), after.GetElements().size()) << target;
      EXPECT_EQ(after.GetText(0x00020016), "SENDER");

      for (const DataSetEditor::Element& element : before.GetElements())
      {
        const DataSetEditor::Element* const found = after.Find(element.tag);
        ASSERT_NE(found, nullptr) << target << " " << std::hex << element.tag;
        EXPECT_TRUE(found->GetValue() == element.GetValue())
            << target << " " << std::hex << element.tag;
      }
    }
  }


  TEST(DcmtkEngine, OldOffsetTablesGo)
  {
    const std::string frames =
        Make(MakeSampleImage(MakeShape(16, 12, false, 1, false, 2)), JPEG_LOSSLESS);
    std::string offsets;
    std::string lengths;
    std::size_t next = 0;

    for (const FrameFragments& frame :
         FindFrames(Describe(frames).encapsulatedPixels, JPEG_LOSSLESS, 2))
    {
      AppendInteger(offsets, next, 8);
      AppendInteger(lengths, frame.front().size(), 8);
      next += 8 + frame.front().size();
    }

    const std::string file = Edit(frames,
                                  [&](DataSetEditor& editor)
                                  {
                                    editor.Set(0x7fe00001, "OV", offsets);
                                    editor.Set(0x7fe00002, "OV", lengths);
                                  });

    for (const char* target : {EXPLICIT_LITTLE_ENDIAN, JPEG_LS, RLE})
    {
      EXPECT_TRUE(Make(file, target) == Make(frames, target)) << target;
    }
  }


  TEST(DcmtkEngine, IconsStayReadable)
  {
    std::string icon;
    AppendElement(icon, 0x00280002, "US", MakeNumber(1));
    AppendElement(icon, 0x00280004, "CS", "MONOCHROME2");
    AppendElement(icon, 0x00280010, "US", MakeNumber(2));
    AppendElement(icon, 0x00280011, "US", MakeNumber(2));
    AppendElement(icon, 0x00280100, "US", MakeNumber(8));
    AppendElement(icon, BITS_STORED, "US", MakeNumber(8));
    AppendElement(icon, 0x00280102, "US", MakeNumber(7));
    AppendElement(icon, 0x00280103, "US", MakeNumber(0));
    AppendElement(icon, PIXEL_DATA, "OB", "icon");
    std::string sequence;
    AppendItem(sequence, icon);

    const std::string file = Edit(MakeSampleImage(MakeShape(16, 12)), [&](DataSetEditor& editor)
                                  { editor.Set(0x00880200, "SQ", sequence); });

    for (const char* target : LOSSLESS)
    {
      const std::string made = Make(file, target);
      const std::string back = Make(made, EXPLICIT_LITTLE_ENDIAN);
      EXPECT_NE(back.find("icon"), std::string::npos) << target;
      ExpectSamePixels(file, back, target);
    }
  }


  TEST(DcmtkEngine, SignedValuesInSequencesStaySigned)
  {
    for (const bool isSigned : {false, true})
    {
      for (const char* target : {EXPLICIT_LITTLE_ENDIAN, JPEG_LOSSLESS, RLE})
      {
        EXPECT_EQ(
            AmbiguousValues::FindWrong(Make(AmbiguousValues(isSigned).file, target), isSigned), "")
            << target << " " << isSigned;
      }
    }
  }


  // DICOM PS3.3 section C.11.2.1.1: what goes into a VOI LUT may be other values than the pixels
  TEST(DcmtkEngine, AVoiLutThatMayBeginAnywhereIsDeclined)
  {
    const auto transcode = [](bool isSigned, unsigned int first)
    {
      std::string content;
      AppendElement(content, 0x00283002, "US",
                    MakeNumber(4096) + MakeNumber(first) + MakeNumber(16));
      std::string item;
      AppendItem(item, content);
      const std::string file =
          Edit(MakeSampleImage(MakeShape(16, 12, isSigned)),
               [&](DataSetEditor& editor) { editor.Set(0x00283010, "SQ", item); });
      const EngineResult result = Transcode(Make(file, IMPLICIT_LITTLE_ENDIAN), JPEG_LOSSLESS);

      if (result.outcome == TranscodingOutcome::Transcoded)
      {
        const DataSetEditor made(result.file.data(), result.file.size());
        return std::string(made.Find(0x00283010)->bytes.substr(24, 2));
      }

      EXPECT_EQ(result.outcome, TranscodingOutcome::Declined) << result.reason;
      return result.reason;
    };

    constexpr unsigned int NEGATIVE = 0xff00;
    const std::string declined = "a VOI LUT from Implicit VR, whose first value has a sign or not";
    EXPECT_EQ(transcode(true, NEGATIVE), declined);
    EXPECT_EQ(transcode(false, NEGATIVE), declined);
    EXPECT_EQ(transcode(false, 100), "US");
    EXPECT_EQ(transcode(true, 100), "SS");
  }


  // Nothing says what they are: DCMTK takes them for unsigned, as all readers of what came must
  TEST(DcmtkEngine, WithoutPixelRepresentationNothingIsSigned)
  {
    std::string content;
    AppendElement(content, 0x00409216, "US", MakeNumber(0xff00));
    std::string item;
    AppendItem(item, content);
    const std::string file = Edit(MakeSampleImage(MakeShape(8, 8)),
                                  [&](DataSetEditor& editor)
                                  {
                                    editor.Remove(PIXEL_DATA);
                                    editor.Remove(0x00280103);
                                    editor.Set(0x00409096, "SQ", item);
                                  });
    const std::string back = Make(Make(file, IMPLICIT_LITTLE_ENDIAN), EXPLICIT_LITTLE_ENDIAN);
    EXPECT_EQ(DataSetEditor(back.data(), back.size()).Find(0x00409096)->bytes.substr(12), item);
  }


  TEST(DcmtkEngine, APreambleThatPointsAtThePixelsGoes)
  {
    std::string file = MakeSampleImage(MakeShape(16, 12));
    file.replace(0, 8, std::string("II*\0\x10\0\0\0", 8));

    for (const char* target : LOSSLESS)
    {
      if (std::string(target) != EXPLICIT_LITTLE_ENDIAN)
      {
        EXPECT_EQ(Make(file, target).substr(0, 128), std::string(128, '\0')) << target;
      }
    }

    file.replace(0, 8, "made by ");
    EXPECT_EQ(Make(file, JPEG_LS).substr(0, 8), "made by ");
  }


  TEST(DcmtkEngine, TheDerivationStaysWhatItWas)
  {
    std::string code;
    AppendElement(code, 0x00080100, "SH", "113076");
    std::string item;
    AppendItem(item, code);
    const std::string plain = MakeSampleImage(MakeShape(8, 8));
    const std::string derived = Edit(plain,
                                     [&](DataSetEditor& editor)
                                     {
                                       editor.Set(0x00089215, "SQ", item);
                                       editor.Set(0x00082112, "SQ", item);
                                     });

    for (const char* target : {JPEG_BASELINE, JPEG_EXTENDED, JPEG_LOSSLESS})
    {
      const std::string made = Make(derived, target);
      const DataSetEditor editor(made.data(), made.size());

      for (const DicomTag tag : {0x00089215, 0x00082112})
      {
        ASSERT_NE(editor.Find(tag), nullptr) << target;
        EXPECT_EQ(editor.Find(tag)->bytes.substr(12), item) << target;
      }

      const std::string other = Make(plain, target);
      EXPECT_EQ(DataSetEditor(other.data(), other.size()).Find(0x00089215), nullptr) << target;
    }
  }


  TEST(DcmtkEngine, LossyJpegIsNearTheImage)
  {
    for (const SampleShape& shape :
         {MakeShape(8, 8), MakeShape(8, 8, false, 3), MakeShape(8, 8, false, 3, true, 2)})
    {
      const std::string file = MakeSampleImage(shape);

      for (const char* target : {JPEG_BASELINE, JPEG_EXTENDED})
      {
        const std::string made = Make(file, target);
        const std::string back = Make(made, EXPLICIT_LITTLE_ENDIAN);
        EXPECT_EQ(Describe(made).photometricInterpretation,
                  shape.samplesPerPixel == 3 ? "YBR_FULL_422" : "MONOCHROME2");
        const std::optional<PixelError> error = MeasureError(Describe(file), Describe(back));
        ASSERT_TRUE(error) << ToText(shape);
        EXPECT_LT(error->mean, 0.02) << target << ", " << ToText(shape);
      }
    }
  }


  // Viewers without a window spread what Bits Stored allows: 12 of them would darken the image
  TEST(DcmtkEngine, LossyJpegOfTwelveBitsDarkensNoImage)
  {
    const std::string file = MakeSampleImage(MakeShape(16, 10));
    const std::string made = Make(file, JPEG_EXTENDED);
    EXPECT_EQ(Describe(made).bitsStored, 10);

    const std::string back = Make(made, EXPLICIT_LITTLE_ENDIAN);
    const std::string_view pixels = Describe(back).pixelData;

    for (std::size_t i = 1; i < pixels.size(); i += 2)
    {
      ASSERT_LT(static_cast<std::uint8_t>(pixels[i]), 4);  // the upper byte of 10 bits
    }
  }


  TEST(DcmtkEngine, BetterQualityIsLargerAndNearer)
  {
    const std::string file = MakeSampleImage(MakeShape(16, 12));
    const std::string poor = Make(file, JPEG_EXTENDED, 10);
    const std::string good = Make(file, JPEG_EXTENDED, 95);
    EXPECT_LT(poor.size(), good.size());

    const auto measure = [&](const std::string& made)
    {
      return MeasureError(Describe(file), Describe(Make(made, EXPLICIT_LITTLE_ENDIAN)))
          .value_or(PixelError{1, 1, 1})
          .mean;
    };
    EXPECT_LT(measure(good), measure(poor));
    EXPECT_LT(measure(good), 0.005);
  }


  TEST(DcmtkEngine, LossyColourBecomesLosslessWithTheSamplesItHas)
  {
    const std::string lossy = Make(MakeSampleImage(MakeShape(8, 8, false, 3)), JPEG_BASELINE);
    const std::string decoded = Make(lossy, EXPLICIT_LITTLE_ENDIAN);
    EXPECT_EQ(Describe(decoded).photometricInterpretation, "YBR_FULL");

    for (const char* target : {JPEG_LOSSLESS, JPEG_LOSSLESS_ANY, JPEG_LS, RLE})
    {
      const std::string lossless = Make(lossy, target);
      EXPECT_EQ(Describe(lossless).photometricInterpretation, "YBR_FULL");
      ExpectSamePixels(decoded, Make(lossless, EXPLICIT_LITTLE_ENDIAN), target);
    }
  }


  TEST(DcmtkEngine, RleIsWrittenByPixelForOrthanc)
  {
    const std::string file = MakeSampleImage(MakeShape(8, 8, false, 3, true, 3));
    const std::string made = Make(file, RLE);
    EXPECT_EQ(Describe(made).planarConfiguration, 0);
    ExpectSamePixels(file, Make(made, EXPLICIT_LITTLE_ENDIAN), RLE);
  }


  TEST(DcmtkEngine, BlanksInsideUidsStay)
  {
    const std::string image = MakeSampleImage(MakeShape(8, 8));
    DataSetEditor editor(image.data(), image.size());
    editor.Set(0x0020000e, "UI", "1.2 3.4 5");

    for (const char* target : {"1.2.840.10008.1.2", JPEG_LOSSLESS})
    {
      EXPECT_NE(Make(editor.Write(), target).find("1.2 3.4 5"), std::string::npos) << target;
    }
  }


  TEST(DcmtkEngine, DeclinesWhatItHasNoCodecFor)
  {
    ExpectDeclined(MakeSampleImage(MakeShape(16, 12)), JPEG_LS_NEAR);
    ExpectDeclined(MakeSampleImage(MakeShape(8, 8)), JPEG_2000);
    ExpectDeclined(MakeSampleImage(MakeShape(8, 8)), "1.2.3");
    ExpectDeclined(MakeEncapsulated(MakeShape(8, 8), JPEG_2000, {"J2K "}), EXPLICIT_LITTLE_ENDIAN);
  }


  TEST(DcmtkEngine, TakesNoMemoryForAMetaInformationBeyondTheEnd)
  {
    constexpr std::size_t FIRST_VR = 136;  // of the group length
    std::string file = MakeSampleImage(MakeShape(8, 8));
    file.insert(FIRST_VR, std::string("\x22\x6c\x3d\xb9\xfe\x7e\0\0", 8));  // a length of 3 GB
    ExpectUndone(file, IMPLICIT_LITTLE_ENDIAN);
  }


  TEST(DcmtkEngine, TheLargestSidesComeBack)
  {
    SampleShape shape = MakeShape(8, 8);
    shape.columns = 1;
    shape.rows = 65500;
    const std::string file = MakeSampleImage(shape);

    for (const char* target : {JPEG_LOSSLESS_ANY, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      ExpectSamePixels(file, Make(Make(file, target), EXPLICIT_LITTLE_ENDIAN), target);
    }

    Make(Make(file, JPEG_BASELINE), EXPLICIT_LITTLE_ENDIAN);
  }


  TEST(DcmtkEngine, NoJpegLsHasFewerThanEightBits)
  {
    for (std::uint16_t stored = 2; stored < 8; stored++)
    {
      for (const std::uint16_t allocated : {8, 16})
      {
        const std::string file = MakeSampleImage(MakeShape(allocated, stored));
        const std::string encoded = Make(file, JPEG_LS);
        const FrameFragments frame =
            FindFrames(Describe(encoded).encapsulatedPixels, JPEG_LS, 1).front();
        EXPECT_GE(ReadCodestreamHeader(CodestreamKind::JpegLs, frame.front()).precision, 8u);
      }
    }
  }


  TEST(DcmtkEngine, DeclinesToLoseBitsThatAreNotStored)
  {
    const auto describe = [](const std::string& file, unsigned int stored, unsigned int highBit)
    {
      return Edit(file,
                  [=](DataSetEditor& editor)
                  {
                    editor.Set(BITS_STORED, "US", MakeNumber(stored));
                    editor.Set(0x00280102, "US", MakeNumber(highBit));
                  });
    };

    // An overlay, or the stored bits at the upper end
    const std::string noise = MakeNoise(MakeShape(16, 16));
    ExpectDeclined(describe(noise, 12, 11), JPEG_EXTENDED);
    ExpectDeclined(describe(noise, 12, 15), JPEG_EXTENDED);

    Make(MakeSampleImage(MakeShape(16, 12)), JPEG_EXTENDED);
  }


  TEST(DcmtkEngine, WithoutPixelsOnlyTheEncodingChanges)
  {
    const std::string file =
        Edit(MakeSampleImage({}), [](DataSetEditor& editor) { editor.Remove(PIXEL_DATA); });

    for (const char* target : {IMPLICIT_LITTLE_ENDIAN, EXPLICIT_LITTLE_ENDIAN, DEFLATED})
    {
      const std::string back = Make(Make(file, target), EXPLICIT_LITTLE_ENDIAN);
      const DataSetEditor before(file.data(), file.size());
      const DataSetEditor after(back.data(), back.size());
      ASSERT_EQ(before.GetElements().size(), after.GetElements().size()) << target;

      for (const DataSetEditor::Element& element : before.GetElements())
      {
        EXPECT_TRUE(after.Find(element.tag)->bytes == element.bytes) << target;
      }
    }

    for (const char* target : {JPEG_BASELINE, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      ExpectDeclined(file, target);
    }
  }


  TEST(DcmtkEngine, WhatIsDeflatedWithAnElementTwiceOrBehindItsEndIsDeclined)
  {
    const auto deflate = [](const std::string& dataSet)
    {
      // One stored block, the last one: RFC 1951 section 3.2.4
      const auto length = static_cast<unsigned int>(dataSet.size());
      return DicomFileBuilder::FileMeta(DEFLATED) + "\x01" + MakeNumber(length) +
             MakeNumber(~length & 0xffff) + dataSet;
    };
    std::string name;
    AppendElement(name, 0x00100010, "PN", "A ");
    EXPECT_NE(Make(deflate(name), EXPLICIT_LITTLE_ENDIAN).find(name), std::string::npos);
    EXPECT_EQ(Transcode(deflate(name + name), EXPLICIT_LITTLE_ENDIAN).reason, UNORDERED_ELEMENTS);

    const std::string end = DicomFileBuilder().EndOfItem().GetBytes();
    EXPECT_EQ(Transcode(deflate(name + end + name), EXPLICIT_LITTLE_ENDIAN).reason,
              NOT_LOOKED_THROUGH);
  }


  TEST(DcmtkEngine, DescriptionsThatLieAreFailures)
  {
    SampleShape huge = MakeShape(16, 16);
    huge.rows = huge.columns = 1;
    const auto lie = [](DataSetEditor& editor)
    {
      editor.Set(0x00280010, "US", MakeNumber(65535));
      editor.Set(0x00280011, "US", MakeNumber(65535));
    };

    for (const char* target : {JPEG_LOSSLESS, JPEG_LOSSLESS_ANY, JPEG_LS, RLE})
    {
      ExpectUndone(Edit(MakeSampleImage(huge), lie), target);
    }

    for (const char* source : {JPEG_BASELINE, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      ExpectUndone(Edit(MakeEncapsulated(huge, source, {"0123456789"}), lie),
                   EXPLICIT_LITTLE_ENDIAN);
    }
  }


  // Deflated, such a file was one that nobody could read
  TEST(DcmtkEngine, OtherGroupsInFileMetaInformationAreFailures)
  {
    constexpr std::size_t LENGTH = 140;  // where the value of (0002,0000) is
    std::string file = MakeSampleImage(MakeShape(8, 8));
    std::string other;
    AppendElement(other, 0x000a0002, "UI", "1.2.3.4");
    const std::size_t length = static_cast<std::uint8_t>(file[LENGTH]);
    file.insert(LENGTH + 4 + length, other);
    file[LENGTH] = static_cast<char>(length + other.size());

    for (const char* target : LOSSLESS)
    {
      if (std::string(target) != EXPLICIT_LITTLE_ENDIAN)  // what it is
      {
        ExpectUndone(file, target);
      }
    }
  }


  // (0022,0020) is a sequence: in implicit VR, nobody could read its text as one
  TEST(DcmtkEngine, SequencesOfAnotherVrDoNotBecomeImplicit)
  {
    const std::string file = Edit(MakeSampleImage(MakeShape(8, 8)), [](DataSetEditor& editor)
                                  { editor.Set(0x00220020, "LO", "PATIENT"); });
    ExpectUndone(file, IMPLICIT_LITTLE_ENDIAN);
    ExpectSamePixels(file, Make(Make(file, JPEG_LS), EXPLICIT_LITTLE_ENDIAN), "another VR");
  }


  TEST(DcmtkEngine, CutAndDamagedPixelsAreFailures)
  {
    const SampleShape shape = MakeShape(16, 12, false, 1, false, 2);

    for (const char* source : {JPEG_EXTENDED, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      const std::string file = Make(MakeSampleImage(shape), source);

      // A frame less than is said
      const std::string more =
          Edit(file, [](DataSetEditor& editor) { editor.Set(0x00280008, "IS", "3 "); });
      ExpectUndone(more, EXPLICIT_LITTLE_ENDIAN);

      // No image begins like this
      ExpectUndone(MakeEncapsulated(shape, source, {std::string(100, 'x'), "yy"}),
                   EXPLICIT_LITTLE_ENDIAN);
      ExpectUndone(MakeEncapsulated(shape, source, {}), EXPLICIT_LITTLE_ENDIAN);
      ExpectUndone(MakeEncapsulated(shape, source, {"", ""}), EXPLICIT_LITTLE_ENDIAN);
    }
  }


  // DICOM PS3.5 section G.3.2: 0x80 is no run of 129 bytes
  TEST(DcmtkEngine, NoOperationsOfRleMeanNothing)
  {
    SampleShape shape = MakeShape(8, 8);
    shape.rows = 1;
    shape.columns = 6;
    const auto make = [&shape](const std::string& segment)
    {
      return MakeEncapsulated(shape, RLE, {JoinRleSegments({segment})});
    };
    const std::string file =
        make(std::string("\x80\x01\x11\x12\x80\x80\xfe\x13\x80\x00\x14\x80", 12));

    for (const char* target : {EXPLICIT_LITTLE_ENDIAN, JPEG_LOSSLESS})
    {
      const std::string native = Make(Make(file, target), EXPLICIT_LITTLE_ENDIAN);
      EXPECT_EQ(Describe(native).pixelData, "\x11\x12\x13\x13\x13\x14") << target;
    }

    ExpectUndone(make("\xfd\x13"), EXPLICIT_LITTLE_ENDIAN);  // four pixels of six
  }


  // Three samples of three bytes: an odd size
  TEST(DcmtkEngine, RleOf24BitsKeepsItsLastByte)
  {
    SampleShape shape = MakeShape(24, 24);
    shape.rows = 1;
    shape.columns = 3;
    const std::string samples = "abcdefghi";
    const std::string file = MakeEncapsulated(shape, RLE, {EncodeRleFrame(samples, 3, 1, 3)});
    EXPECT_EQ(Describe(Make(file, EXPLICIT_LITTLE_ENDIAN)).pixelData, samples + '\0');
  }


  TEST(DcmtkEngine, NoFileIsTooBrokenForIt)
  {
    const std::string file =
        Make(MakeSampleImage(MakeShape(16, 12, false, 1, false, 2)), JPEG_LOSSLESS);

    for (std::size_t size = 0; size < file.size(); size += 97)
    {
      const std::string cut = file.substr(0, size);
      const EngineResult result = Transcode(cut, EXPLICIT_LITTLE_ENDIAN);
      const bool hasNoPixels = Describe(cut).kind == PixelDataKind::None;  // cut between elements
      EXPECT_TRUE(hasNoPixels || result.outcome != TranscodingOutcome::Transcoded) << size;
    }

    std::uint32_t state = 1;
    // Most of them end the worker. test_mutations.py and FuzzDcmtkProgram try many more
    const int files = std::getenv("PERF_LONG") != nullptr ? 300 : 8;

    // Whatever becomes of them, the next one finds a worker
    for (int i = 0; i < files; i++)
    {
      std::string damaged = file;

      for (int j = 0; j < 5; j++)
      {
        state = 1664525 * state + 1013904223;
        damaged[(state >> 8) % damaged.size()] = static_cast<char>(state);
      }

      for (const char* target : {EXPLICIT_LITTLE_ENDIAN, JPEG_LS, RLE})
      {
        const EngineResult result = Transcode(damaged, target);
        EXPECT_EQ(result.file.empty(), result.outcome != TranscodingOutcome::Transcoded);
      }
    }

    EXPECT_NE(Make(file, EXPLICIT_LITTLE_ENDIAN), "");
  }
}

#endif
