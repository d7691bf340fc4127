// SPDX-License-Identifier: GPL-3.0-or-later
#include "ComputedTomography.h"

namespace OrthancPerf
{
  namespace
  {
    void Append(std::string& target, unsigned int value, int size)
    {
      for (int i = 0; i < size; i++)
      {
        target.push_back(static_cast<char>(value >> (8 * i) & 0xff));
      }
    }

    void AppendElement(std::string& target, unsigned int tag, const std::string& representation,
                       const std::string& value)
    {
      Append(target, tag >> 16, 2);
      Append(target, tag & 0xffff, 2);
      target += representation;
      const bool isLong =
          representation == "OW" || representation == "SQ" || representation == "OB";
      Append(target, 0, isLong ? 2 : 0);
      Append(target, static_cast<unsigned int>(value.size()), isLong ? 4 : 2);
      target += value;
    }

    std::string MakeItem(const std::string& content)
    {
      std::string item;
      Append(item, 0xfffe, 2);
      Append(item, 0xe000, 2);
      Append(item, static_cast<unsigned int>(content.size()), 4);
      return item + content;
    }

    std::string MakeFileMeta()
    {
      std::string meta;
      AppendElement(meta, 0x00020001, "OB", std::string("\0\1", 2));
      AppendElement(meta, 0x00020002, "UI", "1.2.840.10008.5.1.4.1.1.2 ");
      AppendElement(meta, 0x00020003, "UI", "1.3.6.1.4.1.5962.1.1.1.1.1.20040119072730.12322 ");
      AppendElement(meta, 0x00020010, "UI", std::string("1.2.840.10008.1.2.1\0", 20));
      AppendElement(meta, 0x00020012, "UI", "1.2.276.0.7230010.3.0.3.6.7 ");
      AppendElement(meta, 0x00020013, "SH", "OFFIS_DCMTK_367 ");
      std::string length;
      Append(length, static_cast<unsigned int>(meta.size()), 4);
      std::string file = std::string(128, '\0') + "DICM";
      AppendElement(file, 0x00020000, "UL", length);
      return file + meta;
    }
  }

  std::string MakeComputedTomography()
  {
    std::string reference;
    AppendElement(reference, 0x00081150, "UI", "1.2.840.10008.5.1.4.1.1.2 ");
    AppendElement(reference, 0x00081155, "UI", "1.3.6.1.4.1.5962.1.1.1.1.2");

    std::string file = MakeFileMeta();
    AppendElement(file, 0x00080018, "UI", "1.3.6.1.4.1.5962.1.1.1.1.1.20040119072730.12322 ");

    for (unsigned int i = 0; i < 30; i++)
    {
      AppendElement(file, 0x00080020 + i, "LO", "ORIGINAL\\PRIMARY\\AXIAL");
    }

    for (unsigned int i = 0; i < 3; i++)
    {
      AppendElement(file, 0x00081110 + i, "SQ", MakeItem(reference));
    }

    AppendElement(file, 0x00100020, "LO", "1CT1");

    for (unsigned int i = 0; i < 50; i++)
    {
      AppendElement(file, 0x00180022 + i, "DS", "120.000000");
    }

    AppendElement(file, 0x0020000d, "UI", "1.3.6.1.4.1.5962.1.2.1.20040119072730.12322 ");
    AppendElement(file, 0x0020000e, "UI", "1.3.6.1.4.1.5962.1.3.1.1.20040119072730.12322 ");

    for (unsigned int i = 0; i < 24; i++)
    {
      AppendElement(file, 0x00280002 + i, "US", std::string("\1\0", 2));
    }

    AppendElement(file, 0x7fe00010, "OW", std::string(512 * 512 * 2, '\0'));
    return file;
  }
}
