// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ElementWriter.h"
#include "Transcoding/ImageFile.h"

#include <string>

namespace OrthancPerf
{
  // An image in Implicit VR, with values that are signed or not as Pixel Representation says
  // (DICOM PS3.5 annex A.1, "US or SS"): of their item, or else of what that is in. What came of
  // it can be asked.
  class AmbiguousValues
  {
  public:
    explicit AmbiguousValues(bool isSigned)
    {
      ImageFile image;
      image.rows = 37;
      image.columns = 41;
      image.isSigned = isSigned;
      image.FillWithNoise(6);

      const std::string own = isSigned ? Number(0) : Number(1);
      const std::string mapped = Element(0x00221452, Number(-3)) +
                                 Element(0x00409211, Number(-1025)) +
                                 Element(0x00409216, Number(-1024));
      const std::string icon = Element(0x00280103, own) + Element(0x00280106, Number(-5)) +
                               Element(0x00281101, Descriptor(-6)) +
                               Sequence(0x00283010, Element(0x00283002, Descriptor(7)));

      file = DicomFileBuilder::FileMeta("1.2.840.10008.1.2") +
             Element(0x00080018, std::string("1.2.3.4\0", 8)) +
             Sequence(0x00081140, Element(0x00221452, Number(-8))) + Short(0x00280002, 1) +
             Element(0x00280004, "MONOCHROME2 ") + Short(0x00280010, image.rows) +
             Short(0x00280011, image.columns) + Short(0x00280100, 16) + Short(0x00280101, 16) +
             Short(0x00280102, 15) + Short(0x00280103, isSigned ? 1 : 0) +
             Element(0x00280120, Number(-9)) + Element(0x00281102, Descriptor(-10)) +
             Sequence(0x00283010, Element(0x00283002, Descriptor(2048))) +
             Sequence(0x00409096, mapped) + Sequence(0x00880200, icon) +
             Sequence(0x20500010, Element(0x00283002, Descriptor(0))) +
             Sequence(0x52009229, Sequence(0x00409096, Element(0x00409216, Number(-11)))) +
             Element(TAG_PIXEL_DATA, image.pixels);
    }

    // Which of the values are not in "result", in Explicit VR, as they should be; empty: none
    static std::string FindWrong(const std::string& result, bool isSigned)
    {
      const char* const outer = isSigned ? "SS" : "US";
      const char* const own = isSigned ? "US" : "SS";
      std::string wrong;

      const auto check =
          [&](DicomTag tag, const char* representation, const std::string& value, const char* name)
      {
        std::string element;
        AppendElement(element, tag, representation, value);
        wrong += result.find(element) == std::string::npos ? std::string(name) + ", " : "";
      };

      check(0x00221452, outer, Number(-8), "before Pixel Representation");
      check(0x00280120, outer, Number(-9), "at the root");
      check(0x00281102, outer, Descriptor(-10), "palette at the root");
      check(0x00283002, outer, Descriptor(2048), "VOI LUT");
      check(0x00409211, outer, Number(-1025), "last mapped");
      check(0x00409216, outer, Number(-1024), "first mapped");
      check(0x00221452, outer, Number(-3), "Mapped Pixel Value");
      check(0x00409216, outer, Number(-11), "deeper");
      check(0x00283002, "US", Descriptor(0), "Presentation LUT");
      check(0x00280106, own, Number(-5), "icon");
      check(0x00281101, own, Descriptor(-6), "palette of the icon");
      check(0x00283002, own, Descriptor(7), "in the icon");
      return wrong;
    }

    std::string file;

  private:
    static std::string Number(int value)
    {
      return ImageFile::Number(static_cast<unsigned int>(value) & 0xffff);
    }

    // Of a lookup table with 40,000 entries of 16 bits: these two never have a sign (DICOM PS3.3
    // section C.11.1.1.1)
    static std::string Descriptor(int first)
    {
      return Number(40000) + Number(first) + Number(16);
    }

    static std::string Element(DicomTag tag, const std::string& value)
    {
      return DicomFileBuilder({false, false}).Element(tag, "", value).GetBytes();
    }

    static std::string Short(DicomTag tag, unsigned int value)
    {
      return Element(tag, ImageFile::Number(value));
    }

    static std::string Sequence(DicomTag tag, const std::string& content)
    {
      return DicomFileBuilder({false, false})
          .Header(tag, "", UNDEFINED_LENGTH)
          .Item(UNDEFINED_LENGTH)
          .Raw(content)
          .EndOfItem()
          .EndOfSequence()
          .GetBytes();
    }
  };
}
