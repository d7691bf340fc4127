// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/CodecProgram.h"

#include "Dicom/CodestreamHeader.h"
#include "Dicom/DicomFileBuilder.h"
#include "Dicom/PixelDataFlaw.h"
#include "Dicom/RleFrame.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/EncapsulatedFrames.h"

#include <algorithm>
#include <cstdlib>

namespace OrthancPerf
{
  namespace
  {
    // Those that were built
    std::vector<std::string> ListPrograms()
    {
      std::vector<std::string> names;

      if (*BuildPaths::GetDcmtkProgram() != '\0')
      {
        names.emplace_back("dcmtk");
      }

      if (*BuildPaths::GetGdcmProgram() != '\0')
      {
        names.emplace_back("gdcm");
      }

      return names;
    }

    SampleShape MakeShape(std::uint16_t bits, bool isSigned, std::uint16_t samples = 1,
                          bool isPlanar = false, std::uint32_t frames = 1)
    {
      const std::uint16_t allocated = bits <= 8 ? 8 : 16;
      return {"", allocated, bits, isSigned, samples, isPlanar, frames, 29, 33};
    }

    // Every depth, and colour, signs, planes, frames, and sizes that are hard
    std::vector<SampleShape> MakeShapes()
    {
      std::vector<SampleShape> shapes = {MakeShape(1, false),
                                         {"", 16, 8, false, 1, false, 1, 31, 37},
                                         {"", 8, 8, false, 1, false, 1, 65500, 1}};

      for (std::uint16_t bits = 2; bits <= 16; bits++)
      {
        shapes.insert(shapes.end(), {MakeShape(bits, false), MakeShape(bits, true)});
      }

      for (const std::uint16_t bits : {8, 16})
      {
        shapes.insert(shapes.end(),
                      {MakeShape(bits, false, 3, false), MakeShape(bits, false, 3, true),
                       MakeShape(bits, false, 3, false, 3), MakeShape(bits, false, 3, true, 3),
                       MakeShape(bits, false, 1, false, 5)});
      }

      for (const std::uint16_t rows : {1, 2, 3, 7, 256})
      {
        const auto columns = static_cast<std::uint16_t>(rows * 2 - 1);
        shapes.insert(shapes.end(), {{"", 16, 12, false, 1, false, 1, rows, columns},
                                     {"", 8, 8, false, 1, false, 1, rows, columns},
                                     {"", 8, 8, false, 3, false, 1, rows, columns}});
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

    std::string Interleave(const std::string& planes, std::size_t frames, std::size_t bytes)
    {
      std::string pixels;
      const std::size_t frame = planes.size() / frames;

      for (std::size_t i = 0; i < planes.size() / bytes; i++)
      {
        const std::size_t sample = i * bytes % frame / bytes;
        const std::size_t place = sample % 3 * (frame / 3) + sample / 3 * bytes;
        pixels.append(planes, i * bytes / frame * frame + place, bytes);
      }

      return pixels;
    }

    // Of 16 bits
    std::vector<int> ReadSamples(const std::string& pixels)
    {
      std::vector<int> samples;
      samples.reserve(pixels.size() / 2);

      for (std::size_t i = 0; i + 1 < pixels.size(); i += 2)
      {
        samples.push_back(static_cast<std::uint8_t>(pixels[i]) |
                          static_cast<std::int8_t>(pixels[i + 1]) * 256);
      }

      return samples;
    }

    // The representations of private elements are lost in Implicit VR
    void ExpectSameElements(const std::string& before, const std::string& after,
                            const std::string& target)
    {
      const ReceivedFile expected(before);
      const ReceivedFile found(after);
      EXPECT_EQ(found.dataSet.elements.size(), expected.dataSet.elements.size()) << target;

      for (const DataElement& element : expected.dataSet.elements)
      {
        const DataElement* const same = found.dataSet.Find(element.tag);
        const bool isPrivate = (element.tag >> 16) % 2 == 1;
        ASSERT_NE(same, nullptr) << target << " " << std::hex << element.tag;
        EXPECT_TRUE(same->GetValue() == element.GetValue()) << target << " " << element.tag;
        EXPECT_TRUE(isPrivate || same->bytes.substr(4, 2) == element.bytes.substr(4, 2))
            << target << " " << std::hex << element.tag;
      }
    }

    std::string SwapWords(std::string bytes)
    {
      for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
      {
        std::swap(bytes[i], bytes[i + 1]);
      }

      return bytes;
    }
  }

  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CodecProgram);
  INSTANTIATE_TEST_SUITE_P(Program, CodecProgram, testing::ValuesIn(ListPrograms()),
                           [](const auto& info) { return info.param; });

  TEST_P(CodecProgram, StartsAndWritesWhatThePluginKnows)
  {
    EXPECT_EQ(GetEngine().GetProblem(), "");

    for (const TransferSyntax& syntax : GetWritableSyntaxes())
    {
      const bool isGdcmOnly = syntax.codestream == CodestreamKind::Jpeg2000 ||
                              std::string_view(syntax.uid) == JPEG_LS_LOSSY;
      EXPECT_EQ(Try(MakeSampleImage({}), syntax.uid).outcome == TranscodingOutcome::Declined,
                isGdcmOnly && !IsGdcm())
          << syntax.name;
    }

    ExpectDeclined(MakeSampleImage({}), "1.2.3");
  }

  TEST_P(CodecProgram, LosslessSyntaxesKeepEveryBit)
  {
    for (const SampleShape& shape : MakeShapes())
    {
      for (const std::string& file : {MakeSampleImage(shape), MakeNoise(shape)})
      {
        const std::string pixels = GetPixels(file);
        const std::string expected =
            shape.isPlanar ? Interleave(pixels, shape.frames, shape.bitsAllocated / 8) : pixels;

        for (const std::string& target : GetLossless())
        {
          if (!FindObstacleOfEngine(DescribeFile(file), target, GetParam()).empty())
          {
            continue;  // too few pixels
          }

          // Noise has no room in GDCM's buffer where pixels have more than 4 bytes
          if (target == JPEG_2000_LOSSLESS && shape.samplesPerPixel * shape.bitsAllocated > 32)
          {
            EXPECT_NE(Try(file, target).outcome, TranscodingOutcome::Failed);
            continue;
          }

          const std::string made = Make(file, target);
          EXPECT_EQ(DescribeFile(made).transferSyntax, target);
          const std::string back = Make(made, EXPLICIT_VR);
          EXPECT_TRUE(GetPixels(back) == expected) << target << ", " << ToText(shape);
          EXPECT_EQ(DescribeFile(back).photometricInterpretation,
                    DescribeFile(file).photometricInterpretation);
          EXPECT_EQ(DescribeFile(back).planarConfiguration, 0);
        }
      }
    }
  }

  TEST_P(CodecProgram, LosslessSyntaxesAreTurnedIntoEachOther)
  {
    for (const SampleShape& shape : {MakeShape(12, false), MakeShape(8, false, 3, false, 2)})
    {
      const std::string file = MakeSampleImage(shape);

      for (const std::string& source : GetAllLossless())
      {
        for (const std::string& target : GetAllLossless())
        {
          const std::string back = Make(Make(Make(file, source), target), EXPLICIT_VR);
          EXPECT_TRUE(GetPixels(back) == GetPixels(file)) << source << " to " << target;
        }
      }
    }
  }

  // An overlay in the upper four bits, as of old, or the stored bits elsewhere
  TEST_P(CodecProgram, BitsThatAreNotStoredStayOrTheImageIsDeclined)
  {
    for (const bool isSigned : {false, true})
    {
      const std::string noise = SetNumber(MakeNoise(MakeShape(16, isSigned)), 0x00280101, 12);

      for (const unsigned int highBit : {11U, 14U})
      {
        const std::string file = SetNumber(noise, 0x00280102, highBit);

        for (const std::string& target : GetCompressed())
        {
          if (!IsLossy(target))
          {
            EXPECT_TRUE(GetPixels(Repeat(file, target)) == GetPixels(file)) << target;
          }
          else if (target != JPEG_BASELINE)
          {
            ExpectDeclined(file, target);
          }
        }
      }
    }
  }

  TEST_P(CodecProgram, EachFrameHasAFragmentAndAnOffset)
  {
    const std::string file = MakeSampleImage(MakeShape(12, false, 1, false, 3));

    for (const std::string& target : GetLossless())
    {
      const EncapsulatedFrames frames(Make(file, target));
      ASSERT_EQ(frames.fragments.size(), 3) << target;
      std::string expected;

      for (const std::size_t offset : frames.offsets)
      {
        AppendInteger(expected, offset, 4);
      }

      EXPECT_EQ(frames.offsetTable, expected) << target;
    }

    EXPECT_EQ(EncapsulatedFrames(Make(MakeSampleImage({}), JPEG_LOSSLESS)).offsetTable, "");
  }

  // With an icon, which stays readable
  TEST_P(CodecProgram, TheRestOfTheDataSetStays)
  {
    const std::string plain = MakeSampleImage({"", 8, 8, false, 1, false, 1, 2, 2});
    const ReceivedFile small(plain);
    std::string icon;
    std::string icons;

    for (const DataElement& element : small.dataSet.elements)
    {
      icon += element.tag < 0x00280000 || element.tag == TAG_PIXEL_DATA ? "" : element.bytes;
    }

    AppendElement(icon, TAG_PIXEL_DATA, "OB", "icon");
    AppendItem(icons, icon);
    const std::string item = MakeItem(0x00080100, "SH", "113076");
    const std::string file = EditFile(MakeSampleImage(MakeShape(12, false)),
                                      [&](DataSetEditor& editor)
                                      {
                                        editor.Set(0x00020016, "AE", "SENDER");
                                        editor.Set(0x00082111, "ST", "Once derived");
                                        editor.Set(0x00082112, "SQ", item);
                                        editor.Set(0x00089215, "SQ", item);
                                        editor.Set(0x00090010, "LO", "SOMEBODY");
                                        editor.Set(0x00091001, "OB", "private ");
                                        editor.Set(0x0020000e, "UI", "1.2 3.4 5");
                                        editor.Set(0x00880200, "SQ", icons);
                                      });

    for (const std::string& target : GetAllLossless())
    {
      const std::string back = Make(Make(file, target), EXPLICIT_VR);
      ExpectSameElements(file, back, target);
      EXPECT_EQ(ReceivedFile(back).fileMeta.Find(0x00020016)->GetText(), "SENDER");
      EXPECT_NE(back.find("icon"), std::string::npos) << target;

      if (!IsEncapsulated(target))  // without pixels, only the encoding changes
      {
        const std::string none =
            EditFile(file, [](DataSetEditor& editor) { editor.Remove(TAG_PIXEL_DATA); });
        ExpectSameElements(none, Make(Make(none, target), EXPLICIT_VR), target);
      }
    }

    EXPECT_EQ(Make(Make(file, JPEG_LS), JPEG_LS), Make(file, JPEG_LS));
  }

  // In Implicit VR, they are signed or not as Pixel Representation says (DICOM PS3.5 annex A.1, "US
  // or SS"): of their item, or else of what that is in
  TEST_P(CodecProgram, SignedValuesInSequencesStaySigned)
  {
    const auto number = [](int value)
    {
      return MakeNumber(static_cast<unsigned int>(value) & 0xffff);
    };

    // Of a lookup table with 40,000 entries of 16 bits: these two never have a sign (DICOM PS3.3
    // section C.11.1.1.1)
    const auto descriptor = [&](int first)
    {
      return MakeNumber(40000) + number(first) + MakeNumber(16);
    };

    for (const bool isSigned : {false, true})
    {
      const char* const outer = isSigned ? "SS" : "US";
      const char* const own = isSigned ? "US" : "SS";  // of the icon
      std::vector<std::string> elements;
      const auto element = [&](DicomTag tag, const char* representation, const std::string& value)
      {
        AppendElement(elements.emplace_back(), tag, representation, value);
        return elements.back();
      };
      const auto item = [](const std::string& content)
      {
        std::string bytes;
        AppendItem(bytes, content);
        return bytes;
      };
      const std::string before = element(0x00221452, outer, number(-8));
      const std::string lut = element(0x00283002, outer, descriptor(2048));
      const std::string mapped = element(0x00221452, outer, number(-3)) +
                                 element(0x00409211, outer, number(-1025)) +
                                 element(0x00409216, outer, number(-1024));
      const std::string icon =
          element(0x00280103, "US", number(isSigned ? 0 : 1)) +
          element(0x00280106, own, number(-5)) + element(0x00281101, own, descriptor(-6)) +
          element(0x00283010, "SQ", item(element(0x00283002, own, descriptor(7))));
      const std::string presentation = element(0x00283002, "US", descriptor(0));
      const std::string deeper =
          element(0x00409096, "SQ", item(element(0x00409216, outer, number(-11))));
      element(0x00280120, outer, number(-9));
      element(0x00281102, outer, descriptor(-10));
      const std::string file = EditFile(MakeSampleImage(MakeShape(16, isSigned)),
                                        [&](DataSetEditor& editor)
                                        {
                                          editor.Set(0x00081140, "SQ", item(before));
                                          editor.Set(0x00280120, outer, number(-9));
                                          editor.Set(0x00281102, outer, descriptor(-10));
                                          editor.Set(0x00283010, "SQ", item(lut));
                                          editor.Set(0x00409096, "SQ", item(mapped));
                                          editor.Set(0x00880200, "SQ", item(icon));
                                          editor.Set(0x20500010, "SQ", item(presentation));
                                          editor.Set(0x52009229, "SQ", item(deeper));
                                        });

      for (const char* const target : {EXPLICIT_VR, JPEG_LOSSLESS, RLE})
      {
        const std::string result = Make(Make(file, IMPLICIT_VR), target);

        for (const std::string& one : elements)
        {
          EXPECT_TRUE(one.substr(4, 2) == "SQ" || result.find(one) != std::string::npos)
              << target << ", " << isSigned << ": " << testing::PrintToString(one);
        }
      }
    }
  }

  // DICOM PS3.3 section C.11.2.1.1: what goes into a VOI LUT may be other values than the pixels
  TEST_P(CodecProgram, AVoiLutThatMayBeginAnywhereIsDeclined)
  {
    const auto transcode = [](bool isSigned, unsigned int first)
    {
      const std::string item =
          MakeItem(0x00283002, "US", MakeNumber(4096) + MakeNumber(first) + MakeNumber(16));
      const std::string file =
          SetElement(MakeSampleImage(MakeShape(12, isSigned)), 0x00283010, "SQ", item);
      return Try(Make(file, IMPLICIT_VR), JPEG_LOSSLESS);
    };

    for (const bool isSigned : {true, false})
    {
      const EngineResult declined = transcode(isSigned, 0xff00);  // or a negative one
      EXPECT_EQ(declined.outcome, TranscodingOutcome::Declined);
      EXPECT_EQ(declined.reason, "a VOI LUT from Implicit VR, whose first value has a sign or not");
      const std::string made = transcode(isSigned, 100).file;
      EXPECT_EQ(DataSetEditor(ReceivedFile(made)).Find(0x00283010)->bytes.substr(24, 2),
                isSigned ? "SS" : "US");
    }
  }

  // Nothing says what they are: DCMTK takes them for unsigned, as all readers of what came must
  TEST_P(CodecProgram, WithoutPixelRepresentationNothingIsSigned)
  {
    const std::string item = MakeItem(0x00409216, "US", MakeNumber(0xff00));
    const std::string file = EditFile(MakeSampleImage({}),
                                      [&](DataSetEditor& editor)
                                      {
                                        editor.Remove(TAG_PIXEL_DATA);
                                        editor.Remove(0x00280103);
                                        editor.Set(0x00409096, "SQ", item);
                                      });
    const std::string back = Repeat(file, IMPLICIT_VR);
    EXPECT_EQ(DataSetEditor(ReceivedFile(back)).Find(0x00409096)->bytes.substr(12), item);
  }

  TEST_P(CodecProgram, APreambleThatPointsAtThePixelsGoes)
  {
    std::string file = MakeSampleImage(MakeShape(12, false));
    file.replace(0, 8, std::string("II*\0\x10\0\0\0", 8));

    for (const std::string& target : GetAllLossless())
    {
      if (target != EXPLICIT_VR)
      {
        EXPECT_EQ(Make(file, target).substr(0, 128), std::string(128, '\0')) << target;
      }
    }

    file.replace(0, 8, "made by ");
    EXPECT_EQ(Make(file, JPEG_LS).substr(0, 8), "made by ");
  }

  // Deflated, such a file was one that nobody could read
  TEST_P(CodecProgram, OtherGroupsInFileMetaInformationAreFailures)
  {
    constexpr std::size_t LENGTH = 140;  // where the value of (0002,0000) is
    std::string file = MakeSampleImage({});
    std::string other;
    AppendElement(other, 0x000a0002, "UI", "1.2.3.4");
    const std::size_t length = static_cast<std::uint8_t>(file[LENGTH]);
    file.insert(LENGTH + 4 + length, other);
    file[LENGTH] = static_cast<char>(length + other.size());

    for (const std::string& target : GetAllLossless())
    {
      if (target != EXPLICIT_VR)  // what it is
      {
        ExpectUndone(file, target);
      }
    }
  }

  // (0022,0020) is a sequence: in implicit VR, nobody could read its text as one
  TEST_P(CodecProgram, SequencesOfAnotherVrAndAMetaInformationBeyondTheEndDoNotBecomeImplicit)
  {
    const std::string file = SetElement(MakeSampleImage({}), 0x00220020, "LO", "PATIENT");
    ExpectUndone(file, IMPLICIT_VR);
    EXPECT_EQ(GetPixels(Repeat(file, JPEG_LS)), GetPixels(file));

    constexpr std::size_t FIRST_VR = 136;  // of the group length
    std::string endless = MakeSampleImage({});
    endless.insert(FIRST_VR, std::string("\x22\x6c\x3d\xb9\xfe\x7e\0\0", 8));  // of 3 GB
    ExpectUndone(endless, IMPLICIT_VR);
  }

  TEST_P(CodecProgram, BigEndianIsTurnedAround)
  {
    const std::string pixels = GetPixels(MakeSampleImage({"", 16, 16, false, 1, false, 1, 40, 50}));
    const std::string file = DicomFileBuilder({true, true})
                                 .Number(0x00280002, 1)
                                 .Element(0x00280004, "CS", "MONOCHROME2 ")
                                 .Number(0x00280010, 40)
                                 .Number(0x00280011, 50)
                                 .Number(0x00280100, 16)
                                 .Number(0x00280101, 16)
                                 .Number(0x00280102, 15)
                                 .Number(0x00280103, 0)
                                 .Element(TAG_PIXEL_DATA, "OW", SwapWords(pixels))
                                 .AsFile(TransferSyntaxUid::EXPLICIT_BIG_ENDIAN);
    EXPECT_TRUE(GetPixels(Make(file, EXPLICIT_VR)) == pixels);
    EXPECT_TRUE(GetPixels(Repeat(file, JPEG_LS)) == pixels);
  }

  TEST_P(CodecProgram, FewerThanEightBitsInEightAreDecoded)
  {
    for (const char* const target : {JPEG_LOSSLESS_SV1, JPEG_BASELINE})
    {
      const std::string file = SetNumber(Make(MakeSampleImage({}), target), 0x00280101, 7);
      EXPECT_EQ(GetPixels(Make(SetNumber(file, 0x00280102, 6), EXPLICIT_VR)).size(), 825) << target;
    }
  }

  // DICOM PS3.5 section A.4: of RLE, each frame is one fragment
  TEST_P(CodecProgram, FramesInManyFragmentsAreFoundByTableOrMarker)
  {
    const std::string image = MakeSampleImage(MakeShape(8, false, 1, false, 2));

    for (const std::string& syntax : GetCompressed())
    {
      if (syntax == RLE)
      {
        continue;
      }

      const std::string file = Make(image, syntax);
      std::vector<std::string> pieces;
      std::string table;
      std::size_t offset = 0;

      for (const std::string& frame : EncapsulatedFrames(file).fragments)
      {
        AppendInteger(table, offset, 4);

        for (std::size_t i = 0; i < frame.size(); i += 100)
        {
          pieces.push_back(frame.substr(i, 100));
          offset += 8 + pieces.back().size();
        }
      }

      const std::string expected = Make(file, EXPLICIT_VR);
      EXPECT_TRUE(Make(SetFragments(file, pieces, table), EXPLICIT_VR) == expected) << syntax;
      EXPECT_TRUE(Make(SetFragments(file, pieces), EXPLICIT_VR) == expected) << syntax;
      ExpectUndone(SetFragments(file, pieces, "\x01\x02\x03\x04 lie"), EXPLICIT_VR);
    }
  }

  TEST_P(CodecProgram, CutAndDamagedFramesAreFailures)
  {
    for (const std::string& syntax : GetCompressed())
    {
      const std::string file = Make(MakeSampleImage(MakeShape(8, false)), syntax);
      std::string frame = EncapsulatedFrames(file).fragments[0];

      for (std::size_t i = 0; i < 10; i++)
      {
        ExpectUndone(SetFragments(file, {frame.substr(0, frame.size() * i / 10)}), EXPLICIT_VR);
      }

      ExpectUndone(SetFragments(file, {}), EXPLICIT_VR);
      ExpectUndone(SetFragments(file, {std::string(100, 'x'), "yy"}), EXPLICIT_VR);
      ExpectUndone(file.substr(0, file.size() - 20), EXPLICIT_VR);
      ExpectUndone(SetNumber(SetNumber(file, 0x00280010, 65535), 0x00280011, 65535), EXPLICIT_VR);

      if (syntax == JPEG_BASELINE)  // libraries fill it with grey
      {
        ExpectUndone(SetFragments(file, {frame.replace(frame.size() * 2 / 3, 2, "\xff\xd9")}),
                     EXPLICIT_VR);
      }
    }
  }

  TEST_P(CodecProgram, DeclinesWhatItDoesNotRead)
  {
    const std::string file = Make(MakeSampleImage({}), JPEG_LOSSLESS);

    for (const char* const syntax :
         {"1.2.840.10008.1.2.4.100", "1.2.3.4", "1.2.840.10008.1.2.4.94"})
    {
      ExpectDeclined(SetElement(file, TAG_TRANSFER_SYNTAX_UID, "UI", syntax), JPEG_LS);
    }
  }

  // DICOM PS3.5 section G.3.2: 0x80 is no run of 129 bytes
  TEST_P(CodecProgram, NoOperationsOfRleMeanNothingAndAnOddSizeKeepsItsLastByte)
  {
    const auto make = [](const std::string& segment)
    {
      return MakeEncapsulated({"", 8, 8, false, 1, false, 1, 1, 6}, RLE,
                              {JoinRleSegments({segment})});
    };
    const std::string file =
        make(std::string("\x80\x01\x11\x12\x80\x80\xfe\x13\x80\x00\x14\x80", 12));
    EXPECT_EQ(GetPixels(Make(file, EXPLICIT_VR)), "\x11\x12\x13\x13\x13\x14");
    EXPECT_EQ(GetPixels(Repeat(file, JPEG_LOSSLESS)), "\x11\x12\x13\x13\x13\x14");
    ExpectUndone(make("\xfd\x13"), EXPLICIT_VR);  // four pixels of six

    const std::string samples = "abcdefghi";  // three of three bytes
    const std::string odd = MakeEncapsulated({"", 24, 24, false, 1, false, 1, 1, 3}, RLE,
                                             {EncodeRleFrame(samples, 3, 1, 3)});
    EXPECT_EQ(DescribeFile(Make(odd, EXPLICIT_VR)).pixelData, samples + '\0');
  }

  // DCMTK reads samples of fewer bits in another way than other libraries
  TEST_P(CodecProgram, NoJpegLsHasFewerThanEightBits)
  {
    for (std::uint16_t stored = 2; stored < 8; stored++)
    {
      for (const std::uint16_t allocated : {8, 16})
      {
        const std::string file =
            MakeSampleImage({"", allocated, stored, false, 1, false, 1, 29, 33});
        const std::string frame = EncapsulatedFrames(Make(file, JPEG_LS)).fragments[0];
        EXPECT_GE(ReadCodestreamHeader(CodestreamKind::JpegLs, frame).precision, 8u);
      }
    }
  }

  TEST_P(CodecProgram, LossyJpegIsNearTheImage)
  {
    for (const SampleShape& shape : {MakeShape(8, false), MakeShape(8, false, 3),
                                     MakeShape(8, false, 3, true, 2), MakeShape(12, false)})
    {
      for (const std::string target : {JPEG_BASELINE, JPEG_EXTENDED})
      {
        if (target == JPEG_EXTENDED || shape.bitsStored == 8)
        {
          EXPECT_LT(MeasureLoss(MakeSampleImage(shape), target), 0.02)
              << target << ", " << ToText(shape);
        }
      }
    }

    const std::string tall = MakeSampleImage({"", 8, 8, false, 1, false, 1, 65500, 1});
    EXPECT_EQ(DescribeFile(Repeat(tall, JPEG_BASELINE)).rows, 65500);
    const std::string file = MakeSampleImage(MakeShape(12, false));
    EXPECT_LT(Make(file, JPEG_EXTENDED, 10).size(), Make(file, JPEG_EXTENDED, 95).size());
    EXPECT_LT(MeasureLoss(file, JPEG_EXTENDED, 95), MeasureLoss(file, JPEG_EXTENDED, 10));
    EXPECT_LT(MeasureLoss(file, JPEG_EXTENDED, 95), 0.005);

    // Viewers without a window spread what Bits Stored allows: 12 of them would darken the image
    const std::string made = Make(MakeSampleImage(MakeShape(10, false)), JPEG_EXTENDED);
    EXPECT_EQ(DescribeFile(made).bitsStored, 10);
    const std::string pixels = GetPixels(Make(made, EXPLICIT_VR));

    for (std::size_t i = 1; i < pixels.size(); i += 2)
    {
      ASSERT_LT(static_cast<std::uint8_t>(pixels[i]), 4);  // the upper byte of 10 bits
    }
  }

  TEST_P(CodecProgram, LossyColourBecomesLosslessWithTheSamplesItHas)
  {
    const std::string lossy = Make(MakeSampleImage(MakeShape(8, false, 3)), JPEG_BASELINE);
    EXPECT_EQ(DescribeFile(lossy).photometricInterpretation, "YBR_FULL_422");
    const std::string decoded = Make(lossy, EXPLICIT_VR);
    EXPECT_EQ(DescribeFile(decoded).photometricInterpretation, "YBR_FULL");

    for (const std::string& target : GetLossless())
    {
      const std::string lossless = Make(lossy, target);
      EXPECT_EQ(DescribeFile(lossless).photometricInterpretation, "YBR_FULL");
      EXPECT_TRUE(GetPixels(Make(lossless, EXPLICIT_VR)) == GetPixels(decoded)) << target;
    }
  }

  // DICOM PS3.3 section C.7.6.1.1.5: once compressed with loss, always
  TEST_P(CodecProgram, WhatWasLossySaysSoWhenItIsDecoded)
  {
    for (const std::string& syntax : GetCompressed())
    {
      const std::string file = Make(MakeSampleImage(MakeShape(8, false)), syntax);
      const std::string denied = SetElement(file, TAG_LOSSY_IMAGE_COMPRESSION, "CS", "00");

      if (syntax == JPEG_BASELINE)
      {
        const std::string mislabelled = SetElement(file, 0x00020010, "UI", JPEG_LOSSLESS);
        const std::string result = Make(mislabelled, EXPLICIT_VR);
        const ReceivedFile made(result);
        ASSERT_NE(nullptr, made.dataSet.Find(TAG_LOSSY_IMAGE_COMPRESSION));
        EXPECT_EQ("01", made.dataSet.Find(TAG_LOSSY_IMAGE_COMPRESSION)->GetText());
      }

      for (const std::string target : {EXPLICIT_VR, RLE, JPEG_LOSSLESS})
      {
        const auto getLossy = [&](const std::string& source)
        {
          const std::string result = Make(source, target);
          const ReceivedFile made(result);
          const DataElement* const lossy = made.dataSet.Find(TAG_LOSSY_IMAGE_COMPRESSION);
          return lossy == nullptr ? "" : std::string(lossy->GetText());
        };

        if (target != syntax)
        {
          EXPECT_EQ(getLossy(file), IsLossy(syntax) ? "01" : "") << syntax << " " << target;
          EXPECT_EQ(getLossy(denied), IsLossy(syntax) ? "01" : "00") << syntax << " " << target;
        }
      }
    }
  }

  // What GDCM alone writes: near-lossless JPEG-LS, and JPEG 2000
  using GdcmProgram = CodecProgram;

  GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(GdcmProgram);
  INSTANTIATE_TEST_SUITE_P(Program, GdcmProgram,
                           testing::ValuesIn(*BuildPaths::GetGdcmProgram() == '\0'
                                                 ? std::vector<std::string>()
                                                 : std::vector<std::string>{"gdcm"}));

  TEST_P(GdcmProgram, Jpeg2000SaysWhatItsSamplesAre)
  {
    const std::string rgb = MakeSampleImage(MakeShape(8, false, 3));
    const std::string ybr = SetElement(rgb, TAG_PHOTOMETRIC_INTERPRETATION, "CS", "YBR_FULL");
    const auto getColours = [](const std::string& file, const std::string& target)
    {
      return std::string(DescribeFile(Make(file, target)).photometricInterpretation);
    };
    EXPECT_EQ(getColours(rgb, JPEG_2000_LOSSLESS), "YBR_RCT");
    EXPECT_EQ(getColours(ybr, JPEG_2000_LOSSLESS), "YBR_FULL");
    EXPECT_EQ(getColours(rgb, JPEG_2000), "YBR_ICT");
    EXPECT_EQ(getColours(ybr, JPEG_2000), "YBR_FULL");
    EXPECT_EQ(getColours(rgb, JPEG_LS_LOSSY), "RGB");

    for (const std::string& file : {rgb, ybr})
    {
      EXPECT_TRUE(GetPixels(Repeat(file, JPEG_2000_LOSSLESS)) == GetPixels(file));
    }
  }

  TEST_P(GdcmProgram, LossyJpeg2000IsNearTheImageAndStaysWithinBitsStored)
  {
    EXPECT_LT(MeasureLoss(MakeSampleImage(MakeShape(8, false, 3)), JPEG_2000), 0.02);

    for (const std::uint16_t stored : {8, 12, 16})
    {
      for (const bool isSigned : {false, true})
      {
        const std::string file = MakeSampleImage(MakeShape(stored, isSigned));
        EXPECT_LT(MeasureLoss(file, JPEG_2000), 0.01) << stored;

        for (const int sample : ReadSamples(GetPixels(Repeat(file, JPEG_2000))))
        {
          ASSERT_TRUE(stored != 12 || sample >= (isSigned ? -2048 : 0));
          ASSERT_TRUE(stored != 12 || sample < (isSigned ? 2048 : 4096));
        }
      }
    }

    EXPECT_LT(Make(MakeSampleImage(MakeShape(8, false)), JPEG_2000, 30).size(),
              Make(MakeSampleImage(MakeShape(8, false)), JPEG_2000, 95).size());
  }

  TEST_P(GdcmProgram, Jpeg2000WithoutLossIsNoLossWhateverItMayHold)
  {
    const std::string file = SetElement(Make(MakeSampleImage({}), JPEG_2000_LOSSLESS),
                                        TAG_TRANSFER_SYNTAX_UID, "UI", JPEG_2000);
    const std::string result = Make(file, EXPLICIT_VR);
    EXPECT_EQ(ReceivedFile(result).dataSet.Find(TAG_LOSSY_IMAGE_COMPRESSION), nullptr);
  }

  // T.87: no sample is off by more than NEAR
  TEST_P(GdcmProgram, NearLosslessKeepsItsBound)
  {
    const std::string file = MakeSampleImage(MakeShape(12, false));
    const std::vector<int> expected = ReadSamples(GetPixels(file));

    for (const unsigned int quality : {50U, 90U, 95U, 100U})
    {
      const std::vector<int> found = ReadSamples(GetPixels(Repeat(file, JPEG_LS_LOSSY, quality)));
      ASSERT_EQ(found.size(), expected.size());

      for (std::size_t i = 0; i < found.size(); i++)
      {
        ASSERT_LE(std::abs(found[i] - expected[i]), GetNearLosslessError(quality));
        ASSERT_LT(found[i], 4096);
      }
    }

    EXPECT_LT(Make(file, JPEG_LS_LOSSY, 30).size(), Make(file, JPEG_LS_LOSSY, 95).size());
  }

  TEST_P(GdcmProgram, NearLosslessSamplesAtTheEndsOfTheirRangeAreDeclined)
  {
    for (const std::uint16_t stored : {4, 6, 8, 12, 16})
    {
      const bool isSigned = stored >= 8;
      const std::uint16_t allocated = stored <= 8 ? 8 : 16;
      const int highest = (1 << (isSigned ? stored - 1 : stored)) - 1;
      const auto make = [&](int sample)
      {
        std::string pixels(std::size_t(30) * 33 * allocated / 8, '\4');
        pixels.replace(0, allocated / 8, MakeNumber(static_cast<unsigned int>(sample)), 0,
                       allocated / 8);
        return SetElement(MakeSampleImage({"", allocated, stored, isSigned, 1, false, 1, 30, 33}),
                          TAG_PIXEL_DATA, allocated == 8 ? "OB" : "OW", pixels);
      };

      // What is encoded in as many bits can't exceed them
      EXPECT_EQ(Try(make(highest), JPEG_LS_LOSSY, 95).outcome == TranscodingOutcome::Declined,
                isSigned || stored < 8)
          << stored;
      const std::string frame =
          EncapsulatedFrames(Make(make(highest - 1), JPEG_LS_LOSSY, 95)).fragments[0];
      EXPECT_GE(ReadCodestreamHeader(CodestreamKind::JpegLs, frame).precision, 8u) << stored;
    }
  }

  // DICOM PS3.3 section C.7.5.1.1.2: the range of an image is that of what is not padding
  TEST_P(GdcmProgram, PaddingDoesNotTakeTheQuality)
  {
    // The left half lies outside of what was reconstructed
    const auto isPadding = [](std::size_t index)
    {
      return index % 80 < 40;
    };
    const std::string padding("\0\x80", 2);
    std::string pixels;

    for (std::size_t i = 0; i < std::size_t(64) * 80; i++)
    {
      const auto value = static_cast<unsigned int>(3 * (i / 80 + i % 80) + i * 7 % 5);
      pixels += isPadding(i) ? padding : MakeNumber(value);
    }

    const std::string file = SetElement(MakeSampleImage({"", 16, 16, true, 1, false, 1, 64, 80}),
                                        TAG_PIXEL_DATA, "OW", pixels);
    const std::string padded = SetElement(file, 0x00280120, "SS", padding);
    const std::vector<int> expected = ReadSamples(pixels);
    const std::vector<int> found = ReadSamples(GetPixels(Repeat(padded, JPEG_2000)));
    double sum = 0;
    int largest = 0;

    for (std::size_t i = 0; i < found.size(); i++)
    {
      const int error = isPadding(i) ? 0 : std::abs(found[i] - expected[i]);
      sum += error;
      largest = std::max(largest, error);
    }

    // 56 dB of 512 values are an error of 0.8, root of the mean square
    EXPECT_LT(sum, 3 * static_cast<double>(found.size()) / 2);
    EXPECT_LT(largest, 30);
    EXPECT_GT(Make(padded, JPEG_2000).size(), Make(file, JPEG_2000).size());
  }
}
