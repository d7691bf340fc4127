// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ReceivedFile.h"

#include "Dicom/DicomFileBuilder.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/FakeEngine.h"
#include "Transcoding/ImageFile.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    ImageDescription Describe(const std::string& file)
    {
      return DescribeImage(file.data(), file.size());
    }

    std::string Number(std::uint16_t number, bool isBigEndian)
    {
      const char low = static_cast<char>(number & 0xff);
      const char high = static_cast<char>(number >> 8);
      return isBigEndian ? std::string{high, low} : std::string{low, high};
    }

    DicomFileBuilder MakeBuilder(const DicomEncoding& encoding)
    {
      const auto number = [&encoding](std::uint16_t value)
      {
        return Number(value, encoding.isBigEndian);
      };

      DicomFileBuilder builder(encoding);
      builder.Element(0x00280002, "US", number(1))
          .Element(0x00280004, "CS", "MONOCHROME2 ")
          .Element(0x00280008, "IS", " 3")
          .Element(0x00280010, "US", number(300))
          .Element(0x00280011, "US", number(2))
          .Element(0x00280100, "US", number(16))
          .Element(0x00280101, "US", number(12))
          .Element(0x00280102, "US", number(11))
          .Element(0x00280103, "US", number(1));
      return builder;
    }

    void ExpectImage(const std::string& transferSyntax, const DicomEncoding& encoding)
    {
      const std::string pixels(3600, 'x');
      const std::string file =
          DicomFileBuilder::FileMeta(transferSyntax) +
          MakeBuilder(encoding).Element(TAG_PIXEL_DATA, "OW", pixels).GetBytes();
      const ImageDescription image = DescribeImage(file.data(), file.size());

      EXPECT_EQ(transferSyntax, image.transferSyntax);
      EXPECT_EQ(PixelDataKind::Native, image.kind);
      EXPECT_EQ(300, image.rows);
      EXPECT_EQ(2, image.columns);
      EXPECT_EQ(1, image.samplesPerPixel);
      EXPECT_EQ(16, image.bitsAllocated);
      EXPECT_EQ(12, image.bitsStored);
      EXPECT_EQ(11, image.highBit);
      EXPECT_EQ(1, image.pixelRepresentation);
      EXPECT_EQ(3u, image.frames);
      EXPECT_EQ("MONOCHROME2", image.photometricInterpretation);
      EXPECT_EQ(pixels, image.pixelData);
      EXPECT_EQ(pixels.size(), image.GetNativeSize());
    }

    ImageDescription MakeShape(std::uint16_t rows, std::uint16_t columns, std::uint16_t samples,
                               std::uint16_t bits)
    {
      ImageDescription image;
      image.rows = rows;
      image.columns = columns;
      image.samplesPerPixel = samples;
      image.bitsAllocated = bits;
      return image;
    }
  }

  TEST(ImageDescription, ImagesAreReadInEveryEncoding)
  {
    ExpectImage("1.2.840.10008.1.2", {false, false});
    ExpectImage("1.2.840.10008.1.2.1", {true, false});
    ExpectImage("1.2.840.10008.1.2.2", {true, true});
  }

  TEST(ImageDescription, EncapsulatedPixelsAreKnown)
  {
    const std::string before =
        DicomFileBuilder::FileMeta(JPEG_LOSSLESS) + MakeBuilder({}).GetBytes();
    const std::string pixels = DicomFileBuilder()
                                   .Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH)
                                   .Item(0)
                                   .Item(4)
                                   .Raw("abcd")
                                   .EndOfSequence()
                                   .GetBytes();

    // Data Set Trailing Padding, or nothing
    for (const std::string& after :
         {std::string(), DicomFileBuilder().Element(0xfffcfffc, "OB", "xy").GetBytes()})
    {
      std::string file = before;
      file.append(pixels).append(after);
      const ImageDescription image = Describe(file);
      EXPECT_EQ(PixelDataKind::Encapsulated, image.kind);
      EXPECT_EQ(300, image.rows);
      EXPECT_TRUE(image.pixelData.empty());
      EXPECT_EQ(pixels, image.encapsulatedPixels);
    }
  }

  // DCMTK takes a delimiter among the outermost elements for the end, and would leave out the rest
  TEST(ImageDescription, NothingIsSaidOfBrokenAndDeflatedFiles)
  {
    const std::string rest =
        DicomFileBuilder().EndOfItem().Element(0xfffcfffc, "OB", "ab").GetBytes();
    const std::string file = MakeSampleImage({});
    EXPECT_EQ(PixelDataKind::Native, Describe(file).kind);
    EXPECT_EQ(PixelDataKind::Unknown, Describe(file + rest).kind);
    EXPECT_EQ(PixelDataKind::Unknown, Describe(file.substr(0, file.size() - 1)).kind);
    EXPECT_EQ(PixelDataKind::None, Describe("").kind);
    EXPECT_EQ(PixelDataKind::None, DescribeImage(nullptr, 0).kind);

    const ImageDescription image = Describe(DicomFileBuilder::FileMeta(DEFLATED) + "\1\2\3");
    EXPECT_EQ(DEFLATED, image.transferSyntax);
    EXPECT_TRUE(image.isDeflated);
    EXPECT_EQ(PixelDataKind::Unknown, image.kind);
  }

  TEST(ImageDescription, OverlaysInUnusedBitsAreSeen)
  {
    const auto describe = [](char position)
    {
      const std::string file =
          DicomFileBuilder::FileMeta(EXPLICIT_LITTLE_ENDIAN) +
          DicomFileBuilder().Element(0x60020102, "US", std::string{position, '\0'}).GetBytes();
      return DescribeImage(file.data(), file.size()).hasEmbeddedOverlays;
    };

    EXPECT_FALSE(describe(0));
    EXPECT_TRUE(describe(12));
  }

  TEST(ImageDescription, NativeSizeCountsSharedSamplesOnceAndIsNoneOfNonsense)
  {
    ImageDescription image = MakeShape(2, 4, 3, 8);
    EXPECT_EQ(24u, image.GetNativeSize());
    image.photometricInterpretation = "YBR_FULL_422";
    EXPECT_EQ(16u, image.GetNativeSize());
    EXPECT_EQ(3u, MakeShape(3, 7, 1, 1).GetNativeSize());  // 21 bits

    EXPECT_FALSE(MakeShape(0, 4, 3, 8).GetNativeSize().has_value());
    EXPECT_FALSE(MakeShape(2, 4, 65535, 8).GetNativeSize().has_value());
    EXPECT_FALSE(MakeShape(2, 4, 3, 65535).GetNativeSize().has_value());
    image = MakeShape(65535, 65535, 4, 64);
    image.frames = 0xffffffff;
    EXPECT_FALSE(image.GetNativeSize().has_value());
  }
}
