// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DataSetEditor.h"

#include "Dicom/CodecError.h"
#include "Dicom/ElementWriter.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    auto HasTag(DicomTag tag)
    {
      return [tag](const DataElement& element)
      {
        return element.tag == tag;
      };
    }
  }

  DataSetEditor::DataSetEditor(const ReceivedFile& file) :
    preamble_(file.bytes.substr(0, FILE_PREFIX_LENGTH)),
    elements_(file.fileMeta.elements)
  {
    if (!file.hasPrefix || !file.IsComplete() || file.image.transferSyntax.empty() ||
        !file.encoding.isExplicit || file.encoding.isBigEndian)
    {
      throw CodecError("The file is not well-formed, or not in Explicit VR Little Endian");
    }

    Remove(TAG_FILE_META_LENGTH);
    elements_.insert(elements_.end(), file.dataSet.elements.begin(), file.dataSet.elements.end());
  }

  const DataElement* DataSetEditor::Find(DicomTag tag) const noexcept
  {
    const auto found = std::find_if(elements_.begin(), elements_.end(), HasTag(tag));
    return found == elements_.end() ? nullptr : &*found;
  }

  void DataSetEditor::Set(DicomTag tag, std::string_view representation, std::string_view value)
  {
    std::string bytes;
    AppendElement(bytes, tag, representation, value);
    const std::size_t header = bytes.size() - value.size() - value.size() % 2;
    Replace(tag, std::move(bytes), representation == "SQ" ? 0 : header);
  }

  void DataSetEditor::SetEncoded(DicomTag tag, std::string element)
  {
    Replace(tag, std::move(element), 0);
  }

  void DataSetEditor::Replace(DicomTag tag, std::string bytes, std::size_t valueOffset)
  {
    added_.push_back(std::move(bytes));
    const DataElement element = {tag, {}, static_cast<std::uint32_t>(valueOffset), added_.back()};
    auto place = std::find_if(elements_.begin(), elements_.end(), HasTag(tag));

    if (place == elements_.end())
    {
      const auto next = std::find_if(elements_.begin(), elements_.end(),
                                     [tag](const DataElement& other) { return other.tag > tag; });
      place = elements_.insert(next, element);
    }

    *place = element;
    elements_.erase(std::remove_if(place + 1, elements_.end(), HasTag(tag)), elements_.end());
    Remove(tag & 0xffff0000);
  }

  void DataSetEditor::Remove(DicomTag tag)
  {
    for (const DicomTag removed : {tag, tag & 0xffff0000})
    {
      elements_.erase(std::remove_if(elements_.begin(), elements_.end(), HasTag(removed)),
                      elements_.end());
    }
  }

  std::string DataSetEditor::Write() const
  {
    std::size_t metaLength = 0;
    std::size_t length = 0;

    for (const DataElement& element : elements_)
    {
      const bool isFileMeta = element.tag >> 16 == 0x0002 && metaLength == length;
      length += element.bytes.size();
      metaLength = isFileMeta ? length : metaLength;
    }

    std::string lengthValue;
    AppendInteger(lengthValue, metaLength, 4);

    std::string file;
    file.reserve(preamble_.size() + 12 + length);
    file.append(preamble_);
    AppendElement(file, TAG_FILE_META_LENGTH, "UL", lengthValue);

    for (const DataElement& element : elements_)
    {
      file.append(element.bytes);
    }

    ClearTiffPreamble(file);
    return file;
  }
}
