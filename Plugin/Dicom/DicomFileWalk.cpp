// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DicomFileWalk.h"

#include <cstring>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;

    // DICOM PS3.10 section 7.1
    constexpr std::size_t PREAMBLE_LENGTH = 128;
    constexpr std::string_view PREFIX = "DICM";


    // Notes the transfer syntax on its way to the visitor
    class FileMetaVisitor : public IDataElementVisitor
    {
    public:
      FileMetaVisitor(UidText& transferSyntax, IDataElementVisitor& next) noexcept :
        transferSyntax_(transferSyntax),
        next_(next)
      {
      }

      void VisitElement(const DataElement& element) noexcept override
      {
        if (element.tag == TAG_TRANSFER_SYNTAX_UID && transferSyntax_[0] == '\0')
        {
          GetText(element)
              .substr(0, MAXIMUM_UID_LENGTH)
              .copy(transferSyntax_.data(), MAXIMUM_UID_LENGTH);
        }

        next_.VisitElement(element);
      }

    private:
      UidText& transferSyntax_;
      IDataElementVisitor& next_;
    };


  }


  DicomFileWalk WalkDicomFile(const void* data, std::size_t size,
                              IDataElementVisitor& visitor) noexcept
  {
    const auto* const bytes = static_cast<const std::uint8_t*>(data);
    const std::size_t start = PREAMBLE_LENGTH + PREFIX.size();
    const bool hasPrefix =
        size >= start && std::memcmp(bytes + PREAMBLE_LENGTH, PREFIX.data(), PREFIX.size()) == 0;

    DicomFileWalk walk;
    DataSetWalker walker(bytes, size, hasPrefix ? start : 0);
    FileMetaVisitor fileMeta(walk.transferSyntax, visitor);
    walk.result = walker.WalkFileMeta(fileMeta);

    if (walk.result == WalkResult::Complete)
    {
      const TransferSyntax* const syntax = FindTransferSyntax(walk.transferSyntax.data());
      walk.isDeflated = syntax != nullptr && syntax->coding == DataSetCoding::Deflated;

      if (!walk.isDeflated)
      {
        walk.encoding = walker.GetEncodingOf(syntax);
        walk.result = walker.WalkDataSet(walk.encoding, visitor);

        // Behind a delimiter that stands among the outermost elements, DCMTK reads no further
        if (walk.result == WalkResult::Complete && !walker.IsAtEnd())
        {
          walk.result = WalkResult::Malformed;
        }
      }
    }

    return walk;
  }


  std::string_view GetText(const DataElement& element) noexcept
  {
    constexpr std::string_view PADDING(" \0", 2);

    if (element.value == nullptr)
    {
      return {};
    }

    const std::string_view text(reinterpret_cast<const char*>(element.value), element.length);
    const std::size_t first = text.find_first_not_of(PADDING);
    return first == std::string_view::npos
               ? std::string_view()
               : text.substr(first, text.find_last_not_of(PADDING) - first + 1);
  }


  std::uint16_t GetUnsignedShort(const DataElement& element, const DicomEncoding& encoding) noexcept
  {
    if (element.value == nullptr || element.length < 2)
    {
      return 0;
    }

    const std::uint8_t low = element.value[encoding.isBigEndian ? 1 : 0];
    const std::uint8_t high = element.value[encoding.isBigEndian ? 0 : 1];
    return static_cast<std::uint16_t>(high << 8 | low);
  }
}
