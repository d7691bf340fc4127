// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DataSetEditor.h"

#include "Dicom/ElementWriter.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    bool IsFileMeta(DicomTag tag)
    {
      return tag >> 16 == 0x0002;
    }

    bool IsGroupLength(DicomTag tag)
    {
      return (tag & 0xffff) == 0;
    }

    DicomTag GetGroupLength(DicomTag tag)
    {
      return tag & 0xffff0000;
    }

    void Check(const ReceivedFile& file)
    {
      if (!file.hasPrefix)
      {
        throw DataSetError("This is no DICOM file: its prefix is missing");
      }

      switch (file.dataSet.result)
      {
        case ReadResult::Complete:
          break;

        case ReadResult::Truncated:
          throw DataSetError("The file ends inside an element");

        case ReadResult::TooLong:
          throw DataSetError("The file has more elements or deeper sequences than are looked at");

        default:
          throw DataSetError("The file is not well-formed");
      }

      if (file.image.isDeflated || file.image.transferSyntax.empty() || !file.encoding.isExplicit ||
          file.encoding.isBigEndian)
      {
        throw DataSetError("The data set is not in Explicit VR Little Endian");
      }
    }

    // Whether there was one
    template <typename Elements, typename Predicate>
    bool RemoveIf(Elements& elements, Predicate predicate)
    {
      const std::size_t size = elements.size();
      elements.erase(std::remove_if(elements.begin(), elements.end(), predicate), elements.end());
      return elements.size() < size;
    }

    auto HasTag(DicomTag tag)
    {
      return [tag](const DataSetEditor::Element& element)
      {
        return element.tag == tag;
      };
    }

    std::size_t SumUp(const std::vector<DataSetEditor::Element>& elements)
    {
      return std::accumulate(elements.begin(), elements.end(), std::size_t(0),
                             [](std::size_t sum, const DataSetEditor::Element& element)
                             { return sum + element.bytes.size(); });
    }
  }


  DataSetEditor::DataSetEditor(const ReceivedFile& file) :
    preamble_(file.bytes.substr(0, FILE_PREFIX_LENGTH)),
    fileMeta_(file.fileMeta.elements),
    dataSet_(file.dataSet.elements)
  {
    Check(file);
    RemoveIf(fileMeta_, [](const Element& element) { return IsGroupLength(element.tag); });
  }


  DataSetEditor::DataSetEditor(const void* data, std::size_t size) :
    DataSetEditor(ReceivedFile(data, size))
  {
  }


  const DataSetEditor::Elements& DataSetEditor::GetGroup(DicomTag tag) const noexcept
  {
    return IsFileMeta(tag) ? fileMeta_ : dataSet_;
  }


  DataSetEditor::Elements& DataSetEditor::GetGroup(DicomTag tag) noexcept
  {
    return IsFileMeta(tag) ? fileMeta_ : dataSet_;
  }


  const DataSetEditor::Element* DataSetEditor::Find(DicomTag tag) const noexcept
  {
    const Elements& elements = GetGroup(tag);
    const auto found = std::find_if(elements.begin(), elements.end(), HasTag(tag));
    return found == elements.end() ? nullptr : &*found;
  }


  std::string_view DataSetEditor::GetText(DicomTag tag) const noexcept
  {
    const Element* const element = Find(tag);
    return element == nullptr ? std::string_view() : element->GetText();
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
    if (tag == TAG_FILE_META_LENGTH)
    {
      throw std::invalid_argument("The length of the File Meta Information is computed");
    }

    added_.push_back(std::move(bytes));
    const Element element = {tag, {}, static_cast<std::uint32_t>(valueOffset), added_.back()};
    Elements& elements = GetGroup(tag);
    const auto found = std::find_if(elements.begin(), elements.end(), HasTag(tag));

    if (found == elements.end())
    {
      const auto next = std::find_if(elements.begin(), elements.end(),
                                     [tag](const Element& other) { return other.tag > tag; });
      elements.insert(next, element);
    }
    else
    {
      *found = element;
      elements.erase(std::remove_if(found + 1, elements.end(), HasTag(tag)), elements.end());
    }

    RemoveIf(elements, HasTag(GetGroupLength(tag)));
    isChanged_ = true;
  }


  void DataSetEditor::Remove(DicomTag tag)
  {
    isChanged_ |= RemoveIf(GetGroup(tag), HasTag(tag));
    isChanged_ |= RemoveIf(GetGroup(tag), HasTag(GetGroupLength(tag)));
  }


  void DataSetEditor::RemoveGroupLengths()
  {
    isChanged_ |=
        RemoveIf(dataSet_, [](const Element& element) { return IsGroupLength(element.tag); });
  }


  std::string DataSetEditor::Write() const
  {
    const std::size_t metaLength = SumUp(fileMeta_);
    std::string lengthValue;
    AppendInteger(lengthValue, metaLength, 4);

    std::string file;
    file.reserve(preamble_.size() + 12 + metaLength + SumUp(dataSet_));
    file.append(preamble_);
    AppendElement(file, TAG_FILE_META_LENGTH, "UL", lengthValue);

    for (const Elements* const elements : {&fileMeta_, &dataSet_})
    {
      for (const Element& element : *elements)
      {
        file.append(element.bytes);
      }
    }

    if (isChanged_)
    {
      ClearTiffPreamble(file);
    }

    return file;
  }
}
