// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ElementWriter.h"
#include "Dicom/DicomFileBuilder.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(EncapsulatedPixels, OneFrameNeedsNoOffset)
  {
    EncapsulatedPixels pixels(1);
    pixels.BeginFrame().append("odd");
    pixels.EndFrame();
    EXPECT_EQ(DicomFileBuilder()
                  .Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH)
                  .Item(0)
                  .Item(4)
                  .Raw({"odd\0", 4})
                  .EndOfSequence()
                  .GetBytes(),
              pixels.Finish());
  }


  TEST(EncapsulatedPixels, OffsetsOfSeveralFramesAreInTheTable)
  {
    EncapsulatedPixels pixels(3);

    for (const char* const frame : {"abc", "d", "ef"})
    {
      pixels.BeginFrame().append(frame);
      pixels.EndFrame();
    }

    EXPECT_EQ(DicomFileBuilder()
                  .Header(TAG_PIXEL_DATA, "OB", UNDEFINED_LENGTH)
                  .Item(12)
                  .Raw({"\0\0\0\0\x0c\0\0\0\x16\0\0\0", 12})
                  .Item(4)
                  .Raw({"abc\0", 4})
                  .Item(2)
                  .Raw({"d\0", 2})
                  .Item(2)
                  .Raw("ef")
                  .EndOfSequence()
                  .GetBytes(),
              pixels.Finish());
  }

}
