// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/SampleImage.h"

#include "Dicom/ReceivedFile.h"

#include <gtest/gtest.h>
#include <set>

namespace OrthancPerf
{
  TEST(SampleImage, EachIsWhatItsShapeSays)
  {
    for (SampleShape shape : GetSelfTestShapes())
    {
      for (const std::uint32_t frames : {1u, 3u})
      {
        shape.frames = frames;
        const std::string file = MakeSampleImage(shape);
        const ImageDescription image = DescribeImage(file.data(), file.size());
        EXPECT_STREQ("", ReceivedFile(file).problem);
        EXPECT_TRUE(ReceivedFile(file).IsComplete());
        EXPECT_EQ(shape.rows, image.rows);
        EXPECT_EQ(shape.columns, image.columns);
        EXPECT_EQ(shape.bitsAllocated, image.bitsAllocated);
        EXPECT_EQ(shape.bitsStored, image.bitsStored);
        EXPECT_EQ(shape.isSigned ? 1 : 0, image.pixelRepresentation);
        EXPECT_EQ(shape.samplesPerPixel, image.samplesPerPixel);
        EXPECT_EQ(frames, image.frames);

        // With the padding of an odd length
        const std::size_t size = image.GetNativeSize().value();
        EXPECT_EQ(size + size % 2, image.pixelData.size());
      }
    }
  }

  TEST(SampleImage, PixelsSpanTheRange)
  {
    const std::string file = MakeSampleImage({});
    const std::string_view pixels = DescribeImage(file.data(), file.size()).pixelData;
    const std::set<unsigned char> values(pixels.begin(), pixels.end() - 1);
    EXPECT_LT(*values.begin(), 10);
    EXPECT_GT(*values.rbegin(), 240);
  }
}
