// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DataSetEditor.h"

#include "Dicom/DicomFileWalk.h"
#include "Dicom/ElementWriter.h"
#include "Dicom/TransferSyntax.h"

#include <algorithm>
#include <new>
#include <numeric>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // As all compressed ones, and those that nobody knows
    bool IsExplicitLittleEndian(std::string_view uid)
    {
      const TransferSyntax* const syntax = FindTransferSyntax(uid);
      return syntax == nullptr ? !uid.empty()
                               : syntax->coding == DataSetCoding::ExplicitLittleEndian ||
                                     syntax->coding == DataSetCoding::Guessed;
    }

    bool IsGroupLength(DicomTag tag)
    {
      return (tag & 0xffff) == 0;
    }

    DicomTag GetGroupLength(DicomTag tag)
    {
      return tag & 0xffff0000;
    }

    std::string_view TrimPadding(std::string_view text)
    {
      return text.substr(0, text.find_last_not_of(std::string_view(" \0", 2)) + 1);
    }

    void CheckComplete(WalkResult result)
    {
      switch (result)
      {
        case WalkResult::Complete:
          return;

        case WalkResult::Truncated:
          throw DataSetError("The file ends inside an element");

        case WalkResult::TooLong:
          throw DataSetError("The file has more elements or deeper sequences than are looked at");

        default:
          throw DataSetError("The file is not well-formed");
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


  // Notes where each element begins; where it ends is known when the next one does
  class DataSetEditor::Collector : public IDataElementVisitor
  {
  public:
    explicit Collector(Elements& elements) : elements_(elements)
    {
    }

    void VisitElement(const DataElement& element) noexcept override
    {
      Finish(element.header);
      begin_ = element.header;

      try
      {
        const std::ptrdiff_t offset = element.value == nullptr ? 0 : element.value - begin_;
        elements_.push_back({element.tag, static_cast<std::uint32_t>(offset), {}});
      }
      catch (const std::exception&)
      {
        isComplete_ = false;
      }
    }

    void Finish(const std::uint8_t* end) noexcept
    {
      if (begin_ != nullptr && isComplete_)
      {
        elements_.back().bytes = std::string_view(reinterpret_cast<const char*>(begin_),
                                                  static_cast<std::size_t>(end - begin_));
      }
    }

    bool IsComplete() const noexcept
    {
      return isComplete_;
    }

  private:
    Elements& elements_;
    const std::uint8_t* begin_ = nullptr;
    bool isComplete_ = true;
  };


  DataSetEditor::DataSetEditor(const void* data, std::size_t size)
  {
    if (!HasFilePrefix(data, size))
    {
      throw DataSetError("This is no DICOM file: its prefix is missing");
    }

    preamble_ = {static_cast<const char*>(data), FILE_PREFIX_LENGTH};
    Read(static_cast<const std::uint8_t*>(data), size);
  }


  void DataSetEditor::Read(const std::uint8_t* data, std::size_t size)
  {
    DataSetWalker walker(data, size, preamble_.size());
    const DicomEncoding metaEncoding = walker.DetectEncoding();

    if (!metaEncoding.isExplicit || metaEncoding.isBigEndian)
    {
      throw DataSetError("The File Meta Information is not in Explicit VR Little Endian");
    }

    Collector meta(fileMeta_);
    CheckComplete(walker.WalkFileMeta(meta));
    meta.Finish(walker.GetNext());
    CheckGroups(fileMeta_, true);
    RemoveIf(fileMeta_, [](const Element& element) { return IsGroupLength(element.tag); });

    if (!IsExplicitLittleEndian(GetText(TAG_TRANSFER_SYNTAX_UID)))
    {
      throw DataSetError("The data set is not in Explicit VR Little Endian");
    }

    Collector dataSet(dataSet_);
    CheckComplete(walker.WalkDataSet({true, false}, dataSet));
    dataSet.Finish(walker.GetNext());
    CheckGroups(dataSet_, false);

    if (!walker.IsAtEnd())
    {
      throw DataSetError("The data set ends before the file does");
    }

    if (walker.EndsInside())
    {
      throw DataSetError("The file ends inside a sequence or an image");
    }

    if (!meta.IsComplete() || !dataSet.IsComplete())
    {
      throw std::bad_alloc();
    }
  }


  // A wrong length of the File Meta Information moves elements to the other side
  void DataSetEditor::CheckGroups(const Elements& elements, bool isFileMeta)
  {
    for (const Element& element : elements)
    {
      if (IsFileMeta(element.tag) != isFileMeta)
      {
        throw DataSetError("The File Meta Information is not as long as it says");
      }
    }
  }


  bool DataSetEditor::IsFileMeta(DicomTag tag) noexcept
  {
    return tag >> 16 == 0x0002;
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
    return element == nullptr ? std::string_view() : TrimPadding(element->GetValue());
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
    const Element element = {tag, static_cast<std::uint32_t>(valueOffset), added_.back()};
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
