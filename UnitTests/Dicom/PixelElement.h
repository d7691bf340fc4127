// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ElementWriter.h"

#include <string>
#include <vector>

namespace OrthancPerf
{
  // Encapsulated Pixel Data as a whole element, which need not be right
  inline std::string MakePixelElement(const std::vector<std::string>& fragments,
                                      const std::string& offsetTable = "")
  {
    std::string element;
    AppendUndefinedLength(element, TAG_PIXEL_DATA, "OB");
    AppendItem(element, offsetTable);

    for (const std::string& fragment : fragments)
    {
      AppendItem(element, fragment);
    }

    AppendSequenceDelimitation(element);
    return element;
  }
}
