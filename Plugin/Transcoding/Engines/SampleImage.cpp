// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Engines/SampleImage.h"

#include "Dicom/ElementWriter.h"
#include "Dicom/TransferSyntax.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* SECONDARY_CAPTURE = "1.2.840.10008.5.1.4.1.1.7";

    // Made of UUIDs once and for all: DICOM PS3.5 section B.2
    constexpr const char* STUDY = "2.25.240293160931236540573046512847136071236";
    constexpr const char* SERIES = "2.25.81320671983416027930417845620317564219";
    constexpr const char* INSTANCE = "2.25.163207419837640518273640918273645091827";

    void AppendNumber(std::string& target, DicomTag tag, std::uint16_t number)
    {
      std::string value;
      AppendInteger(value, number, 2);
      AppendElement(target, tag, "US", value);
    }

    // A slope from corner to corner, other for each sample and frame
    std::string MakePixels(const SampleShape& shape)
    {
      const std::int64_t range = std::int64_t(1) << shape.bitsStored;
      const std::int64_t noiseRange = std::max<std::int64_t>(range / 64, 1);
      const std::int64_t lowest = shape.isSigned ? -range / 2 : 0;
      const std::int64_t steps = shape.rows + shape.columns;
      std::uint32_t noise = 1;
      std::string pixels;

      const std::int64_t pixelsOfFrame = std::int64_t(shape.rows) * shape.columns;
      const std::int64_t samples = shape.samplesPerPixel;

      for (std::int64_t i = 0; i < pixelsOfFrame * samples * shape.frames; i++)
      {
        const std::int64_t frame = i / (pixelsOfFrame * samples);
        const std::int64_t sample = shape.isPlanar ? i / pixelsOfFrame % samples : i % samples;
        const std::int64_t pixel = (shape.isPlanar ? i : i / samples) % pixelsOfFrame;
        const std::int64_t step =
            (pixel / shape.columns + pixel % shape.columns + 5 * sample + 3 * frame) % steps;
        const std::int64_t value = lowest + step * (range - noiseRange) / steps;

        // The sequence of Numerical Recipes' quick generator, the same on all machines
        noise = 1664525 * noise + 1013904223;
        AppendInteger(pixels, static_cast<std::uint64_t>(value + (noise >> 16) % noiseRange),
                      shape.bitsAllocated / 8);
      }

      return pixels;
    }

    std::string MakeFileMeta()
    {
      std::string elements;
      AppendElement(elements, 0x00020001, "OB", std::string("\0\1", 2));
      AppendElement(elements, 0x00020002, "UI", SECONDARY_CAPTURE);
      AppendElement(elements, 0x00020003, "UI", INSTANCE);
      AppendElement(elements, 0x00020010, "UI", TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);
      AppendElement(elements, 0x00020012, "UI", "2.25.302914018304712650918273640192837465011");

      std::string length;
      AppendInteger(length, elements.size(), 4);

      std::string meta = std::string(128, '\0') + "DICM";
      AppendElement(meta, 0x00020000, "UL", length);
      return meta + elements;
    }

    void AppendImagePixelModule(std::string& target, const SampleShape& shape)
    {
      const bool isColour = shape.samplesPerPixel > 1;
      AppendNumber(target, 0x00280002, shape.samplesPerPixel);
      AppendElement(target, 0x00280004, "CS", isColour ? "RGB" : "MONOCHROME2");

      if (isColour)
      {
        AppendNumber(target, 0x00280006, shape.isPlanar ? 1 : 0);
      }

      if (shape.frames > 1)
      {
        AppendElement(target, 0x00280008, "IS", std::to_string(shape.frames));
      }

      AppendNumber(target, 0x00280010, shape.rows);
      AppendNumber(target, 0x00280011, shape.columns);
      AppendNumber(target, 0x00280100, shape.bitsAllocated);
      AppendNumber(target, 0x00280101, shape.bitsStored);
      AppendNumber(target, 0x00280102, static_cast<std::uint16_t>(shape.bitsStored - 1));
      AppendNumber(target, 0x00280103, shape.isSigned ? 1 : 0);
      AppendElement(target, 0x7fe00010, shape.bitsAllocated > 8 ? "OW" : "OB", MakePixels(shape));
    }
  }

  std::string MakeSampleImage(const SampleShape& shape)
  {
    std::string file = MakeFileMeta();
    AppendElement(file, 0x00080008, "CS", "ORIGINAL\\PRIMARY");
    AppendElement(file, 0x00080016, "UI", SECONDARY_CAPTURE);
    AppendElement(file, 0x00080018, "UI", INSTANCE);
    AppendElement(file, 0x00080060, "CS", "OT");
    AppendElement(file, 0x00100010, "PN", "");
    AppendElement(file, 0x00100020, "LO", "SAMPLE");
    AppendElement(file, 0x0020000d, "UI", STUDY);
    AppendElement(file, 0x0020000e, "UI", SERIES);
    AppendElement(file, 0x00200013, "IS", "1");
    AppendImagePixelModule(file, shape);
    return file;
  }

  const std::vector<SampleShape>& GetSelfTestShapes()
  {
    static const std::vector<SampleShape> SHAPES = {{"8 bits", 8, 8, false, 1},
                                                    {"12 bits in 16", 16, 12, false, 1},
                                                    {"signed 16 bits", 16, 16, true, 1},
                                                    {"RGB", 8, 8, false, 3}};
    return SHAPES;
  }

  const SampleShape& GetSpeedTestShape()
  {
    static const SampleShape SHAPE = {"12 bits in 16", 16, 12, false, 1, false, 1, 256, 256};
    return SHAPE;
  }
}
