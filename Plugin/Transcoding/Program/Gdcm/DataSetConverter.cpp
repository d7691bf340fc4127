// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/DataSetConverter.h"

#include "Dicom/CodecError.h"
#include "Dicom/DataSetWalker.h"
#include "Dicom/ElementWriter.h"
#include "Transcoding/Program/Gdcm/DataSetRecoder.h"
#include "Transcoding/Program/Gdcm/Deflate.h"

#include <algorithm>
#include <cstdint>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::string_view IMPLICIT_VR = "1.2.840.10008.1.2";
    constexpr std::string_view EXPLICIT_VR = "1.2.840.10008.1.2.1";
    constexpr std::string_view DEFLATED = "1.2.840.10008.1.2.1.99";
    constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;
    constexpr DicomEncoding EXPLICIT = {true, false};
    constexpr DicomEncoding IMPLICIT = {false, false};
    constexpr std::size_t PREFIX_LENGTH = 132;

    // Finds where the transfer syntax is, and the length that changes with it
    class FileMetaVisitor : public IDataElementVisitor
    {
    public:
      void VisitElement(const DataElement& element) noexcept override
      {
        if (element.tag == TAG_FILE_META_LENGTH)
        {
          length_ = element;
        }
        else if (element.tag == TAG_TRANSFER_SYNTAX_UID)
        {
          syntax_ = element;
        }
      }

      const DataElement& GetLength() const noexcept
      {
        return length_;
      }

      const DataElement& GetSyntax() const noexcept
      {
        return syntax_;
      }

    private:
      DataElement length_;
      DataElement syntax_;
    };

    const std::uint8_t* GetBytes(std::string_view file)
    {
      return reinterpret_cast<const std::uint8_t*>(file.data());
    }

    struct FileParts
    {
      std::string fileMeta;  // and what is in front of it; it names the new syntax
      std::string_view dataSet;
    };

    FileParts Split(std::string_view file, std::string_view newSyntax)
    {
      FileMetaVisitor visitor;
      DataSetWalker walker(GetBytes(file), file.size(), std::min(PREFIX_LENGTH, file.size()));

      if (walker.WalkFileMeta(visitor) != WalkResult::Complete ||
          visitor.GetSyntax().value == nullptr)
      {
        throw CodecError("The File Meta Information is not well-formed");
      }

      const std::size_t end = file.size() - walker.GetRemaining();
      const auto begin = static_cast<std::size_t>(visitor.GetSyntax().header - GetBytes(file));
      const auto next = static_cast<std::size_t>(visitor.GetSyntax().value - GetBytes(file)) +
                        visitor.GetSyntax().length;

      std::string fileMeta(file.substr(0, begin));
      AppendElement(fileMeta, TAG_TRANSFER_SYNTAX_UID, "UI", newSyntax);
      fileMeta.append(file.substr(next, end - next));

      if (visitor.GetLength().value != nullptr && visitor.GetLength().length == 4)
      {
        const auto position = static_cast<std::size_t>(visitor.GetLength().value - GetBytes(file));
        std::string length;
        AppendInteger(length, fileMeta.size() - position - 4, 4);
        fileMeta.replace(position, 4, length);
      }

      return {fileMeta, file.substr(end)};
    }

    // The depth of sequences above all, which RecodeDataSet follows by recursion
    void Check(std::string_view dataSet, const DicomEncoding& encoding)
    {
      FileMetaVisitor visitor;
      DataSetWalker walker(GetBytes(dataSet), dataSet.size(), 0);

      if (walker.WalkDataSet(encoding, visitor) != WalkResult::Complete || !walker.IsAtEnd())
      {
        throw CodecError("The data set is cut off or not well-formed");
      }
    }
  }


  std::string ConvertToExplicit(std::string_view file, std::string_view transferSyntax,
                                std::size_t limit)
  {
    const FileParts parts = Split(file, EXPLICIT_VR);

    if (transferSyntax == DEFLATED)
    {
      return parts.fileMeta + Inflate(parts.dataSet, limit);
    }

    const DicomEncoding encoding = {transferSyntax != IMPLICIT_VR, transferSyntax != IMPLICIT_VR};
    Check(parts.dataSet, encoding);
    return parts.fileMeta + RecodeDataSet(parts.dataSet, encoding, EXPLICIT);
  }


  std::string ConvertFromExplicit(std::string_view file, std::string_view transferSyntax)
  {
    const FileParts parts = Split(file, transferSyntax);

    if (transferSyntax == DEFLATED)
    {
      return parts.fileMeta + Deflate(parts.dataSet);
    }

    Check(parts.dataSet, EXPLICIT);
    return parts.fileMeta + RecodeDataSet(parts.dataSet, EXPLICIT, IMPLICIT);
  }
}
