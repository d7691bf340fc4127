// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetEditor.h"
#include "Dicom/PixelElement.h"
#include "Dicom/ReceivedFile.h"

#include <functional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  using FileChange = std::function<void(DataSetEditor&)>;

  inline std::string EditFile(const std::string& file, const FileChange& change)
  {
    DataSetEditor editor{ReceivedFile(file)};
    change(editor);
    return editor.Write();
  }

  inline std::string SetElement(const std::string& file, DicomTag tag, const char* representation,
                                const std::string& value)
  {
    return EditFile(file, [&](DataSetEditor& editor) { editor.Set(tag, representation, value); });
  }

  // The value of a US
  inline std::string MakeNumber(unsigned int number)
  {
    std::string value;
    AppendInteger(value, number, 2);
    return value;
  }

  inline std::string SetNumber(const std::string& file, DicomTag tag, unsigned int number)
  {
    return SetElement(file, tag, "US", MakeNumber(number));
  }

  inline std::string SetFragments(const std::string& file,
                                  const std::vector<std::string>& fragments,
                                  const std::string& offsetTable = "")
  {
    return EditFile(file,
                    [&](DataSetEditor& editor) {
                      editor.SetEncoded(TAG_PIXEL_DATA, MakePixelElement(fragments, offsetTable));
                    });
  }

  // An item of a sequence, with one element
  inline std::string MakeItem(DicomTag tag, const char* representation, const std::string& value)
  {
    std::string content;
    AppendElement(content, tag, representation, value);
    std::string item;
    AppendItem(item, content);
    return item;
  }

  inline ImageDescription DescribeFile(const std::string& file)
  {
    return DescribeImage(file.data(), file.size());
  }
}
