// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/OrthancPicture.h"

#include "Transcoding/FakeEngine.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* JPEG_2000_LOSSLESS = "1.2.840.10008.1.2.4.90";

    ImageDescription Describe(const std::string& syntax, const char* photometric, int allocated = 8,
                              int stored = 8)
    {
      ImageDescription image;
      syntax.copy(image.transferSyntax.data(), MAXIMUM_UID_LENGTH);
      image.kind = IsEncapsulated(syntax) ? PixelDataKind::Encapsulated : PixelDataKind::Native;
      image.photometricInterpretation = photometric;
      image.samplesPerPixel = image.photometricInterpretation.substr(0, 4) == "MONO" ? 1 : 3;
      image.bitsAllocated = static_cast<std::uint16_t>(allocated);
      image.bitsStored = static_cast<std::uint16_t>(stored);
      image.highBit = static_cast<std::uint16_t>(stored - 1);
      return image;
    }

    bool IsLost(const ImageDescription& received, const std::string& target)
    {
      return !FindLossOfPicture(received, target).empty();
    }
  }


  TEST(OrthancPicture, WhatIsShownInEveryTransferSyntaxIsNotLost)
  {
    for (const std::string target :
         {EXPLICIT_LITTLE_ENDIAN, DEFLATED, JPEG_BASELINE, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      EXPECT_FALSE(IsLost(Describe(EXPLICIT_LITTLE_ENDIAN, "RGB"), target));
      EXPECT_FALSE(IsLost(Describe(JPEG_LS, "RGB"), target));
      EXPECT_FALSE(IsLost(Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 12), target));
    }
  }


  TEST(OrthancPicture, ColoursThatOrthancShowsOfLossyJpegOnlyAreLost)
  {
    const ImageDescription received = Describe(JPEG_BASELINE, "YBR_FULL_422");

    for (const std::string target : {EXPLICIT_LITTLE_ENDIAN, JPEG_LOSSLESS, JPEG_LS, RLE})
    {
      EXPECT_TRUE(IsLost(received, target)) << target;
    }

    EXPECT_TRUE(IsLost(received, JPEG_2000_LOSSLESS));
    EXPECT_FALSE(IsLost(received, "1.2.840.10008.1.2.4.51"));
  }


  TEST(OrthancPicture, WhatIsNotShownMayBecomeWhatIsNotShownButNotFalseColours)
  {
    const ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "YBR_FULL");
    EXPECT_FALSE(IsLost(received, "1.2.840.10008.1.2"));
    EXPECT_FALSE(IsLost(received, DEFLATED));
    EXPECT_FALSE(IsLost(received, JPEG_2000_LOSSLESS));
    EXPECT_FALSE(IsLost(received, JPEG_BASELINE));
    EXPECT_TRUE(IsLost(received, JPEG_LS));
    EXPECT_FALSE(IsLost(Describe(JPEG_2000_LOSSLESS, "YBR_RCT"), EXPLICIT_LITTLE_ENDIAN));
  }


  TEST(OrthancPicture, EightBitsInSixteenHaveNoPictureOnceTheyAreCompressed)
  {
    ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 8);
    EXPECT_TRUE(IsLost(received, JPEG_LOSSLESS));
    EXPECT_TRUE(IsLost(received, RLE));
    EXPECT_FALSE(IsLost(received, DEFLATED));
    EXPECT_TRUE(IsLost(Describe(EXPLICIT_LITTLE_ENDIAN, "RGB", 16, 8), JPEG_LS));

    received.pixelRepresentation = 1;
    EXPECT_FALSE(IsLost(received, JPEG_LOSSLESS));
  }


  TEST(OrthancPicture, NoBitsAreShiftedOnceTheyAreCompressed)
  {
    ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "MONOCHROME2", 16, 12);
    received.highBit = 15;
    EXPECT_TRUE(IsLost(received, JPEG_LS));
    EXPECT_FALSE(IsLost(received, DEFLATED));
  }


  TEST(OrthancPicture, RleByPlaneHasFalseColours)
  {
    ImageDescription stored = Describe(RLE, "RGB");
    const ImageDescription received = Describe(EXPLICIT_LITTLE_ENDIAN, "RGB");
    EXPECT_EQ("", FindLossOfPicture(received, stored));

    stored.planarConfiguration = 1;
    EXPECT_NE("", FindLossOfPicture(received, stored));
  }


  TEST(OrthancPicture, WhatCantBeSeenOrHasNoPixelsIsNotLost)
  {
    ImageDescription stored;
    EXPECT_EQ("", FindLossOfPicture(Describe(EXPLICIT_LITTLE_ENDIAN, "RGB"), stored));
    stored.kind = PixelDataKind::None;
    EXPECT_EQ("", FindLossOfPicture(stored, DEFLATED));
  }
}
