// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ReceivedFile.h"

#include <algorithm>
#include <iterator>
#include <optional>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::string_view PREFIX = "DICM";  // behind the preamble

    // Orthanc drops longer values: ORTHANC_MAXIMUM_TAG_LENGTH
    constexpr std::size_t MAXIMUM_IDENTIFIER_LENGTH = 256;

    // In the order in which Orthanc hashes them. DicomInstanceHasher: Patient ID may be absent or
    // empty, the others may not.
    struct Identifier
    {
      DicomTag tag;
      ValueKind kind;
      const char* missing;
    };

    constexpr Identifier IDENTIFIERS[] = {
        {0x00100020, ValueKind::Text, ""},
        {0x0020000d, ValueKind::Uid, "Study Instance UID is missing"},
        {0x0020000e, ValueKind::Uid, "Series Instance UID is missing"},
        {TAG_SOP_INSTANCE_UID, ValueKind::Uid, "SOP Instance UID is missing"}};

    // The text that DCMTK gives to Orthanc; nothing where that cannot be told, as where it is more
    // than the value without its padding
    std::optional<std::string_view> ReadIdentifier(const DataElement& element, ValueKind expected)
    {
      const ValueKind kind = element.representation.kind;
      const std::string_view value = element.GetValue();
      const std::size_t end = std::min(value.find('\0'), value.size());

      if (!element.HasValue() || (kind != expected && kind != ValueKind::Unspecified) ||
          value.find_first_not_of('\0', end) != std::string_view::npos)
      {
        return std::nullopt;
      }

      std::string_view text = value.substr(0, end);

      // Spaces before a zero are a part of a text
      if (end == value.size() || expected == ValueKind::Uid)
      {
        text = text.substr(0, text.find_last_not_of(' ') + 1);
      }

      const bool hasSpaces = text.find_first_of(" \t\n\v\f\r") != std::string_view::npos;
      return expected == ValueKind::Uid && hasSpaces ? std::nullopt : std::make_optional(text);
    }
  }

  ReceivedFile::ReceivedFile(const void* data, std::size_t size) :
    bytes(static_cast<const char*>(data), size),
    hasPrefix(HasFilePrefix(bytes)),
    fileMeta(ReadFileMeta(bytes.substr(hasPrefix ? FILE_PREFIX_LENGTH : 0)))
  {
    dataSet.result = fileMeta.result;

    if (fileMeta.result == ReadResult::Complete)
    {
      ReadContent();
    }

    Identify();
    FindProblem();
  }

  void ReceivedFile::ReadContent()
  {
    const DataElement* const uid = fileMeta.Find(TAG_TRANSFER_SYNTAX_UID);
    const std::string syntaxUid(
        uid == nullptr || uid->representation.kind != ValueKind::Uid ? "" : uid->GetText());
    const TransferSyntax* const syntax = FindTransferSyntax(syntaxUid);
    content = fileMeta.elements.empty()
                  ? bytes.substr(hasPrefix ? FILE_PREFIX_LENGTH : 0)
                  : bytes.substr(static_cast<std::size_t>(fileMeta.elements.back().bytes.end() -
                                                          bytes.begin()));

    if (syntax != nullptr && syntax->coding == DataSetCoding::Deflated)
    {
      image.isDeflated = true;
    }
    else
    {
      encoding.isExplicit =
          syntax == nullptr
              ? content.size() > 5 &&
                    GetValueRepresentation(content[4], content[5]).kind != ValueKind::Illegal
              : syntax->coding != DataSetCoding::ImplicitLittleEndian;
      encoding.isBigEndian =
          syntax != nullptr && syntax->coding == DataSetCoding::ExplicitBigEndian;

      dataSet = ReadDataSet(content, encoding);
    }

    if (!HasLegalFileMeta())
    {
      dataSet.result = ReadResult::Malformed;
    }

    if (IsComplete())
    {
      image = DescribeImage(dataSet, encoding);
      image.hasUnorderedElements |= fileMeta.hasUnorderedElements;
    }

    image.transferSyntax = syntaxUid;
  }

  // Of a length that is not true, DCMTK puts elements on the other side. Orthanc has a reader of
  // its own for it, which knows the VRs of DICOM but for those of 64-bit integers
  // (DicomMap::ParseDicomMetaInformation).
  bool ReceivedFile::HasLegalFileMeta() const
  {
    const auto isKnown = [](const DataElement& element)
    {
      return element.representation.isStandard && element.bytes[5] != 'V';
    };
    const auto& elements = fileMeta.elements;

    if (elements.empty())
    {
      return !hasPrefix;
    }

    const DataElement* const stated = fileMeta.Find(TAG_FILE_META_LENGTH);
    const bool isTrue =
        stated == nullptr ||
        (stated == &elements.front() && stated->GetValue().size() == sizeof(std::uint32_t) &&
         ReadLittle<std::uint32_t>(stated->GetValue()) == content.begin() - stated->bytes.end());
    const bool isOver = dataSet.elements.empty() ||
                        dataSet.elements.front().tag >> 16 != elements.front().tag >> 16;
    return isTrue && isOver && std::all_of(elements.begin(), elements.end(), isKnown);
  }

  void ReceivedFile::Identify()
  {
    std::string uid;
    std::string identifiers;
    bool isKnown = true;

    for (const Identifier& identifier : IDENTIFIERS)
    {
      const DataElement* const element = dataSet.Find(identifier.tag);
      const DataElement found = element == nullptr ? DataElement() : *element;
      const auto text =
          element == nullptr ? std::string_view() : ReadIdentifier(found, identifier.kind);
      const std::size_t length = found.GetText().size();

      if (*problem == '\0' && length > MAXIMUM_IDENTIFIER_LENGTH)
      {
        problem = "Patient ID or a UID is longer than Orthanc keeps";
      }
      else if (*problem == '\0' && length == 0)
      {
        problem = identifier.missing;
      }

      uid = text.value_or("");
      isKnown = isKnown && text.has_value() && uid.size() <= MAXIMUM_IDENTIFIER_LENGTH &&
                !(uid.empty() && identifier.kind == ValueKind::Uid);
      identifiers.append(&identifier == IDENTIFIERS ? "" : "|").append(uid);
    }

    const DataElement* const other = fileMeta.Find(TAG_MEDIA_STORAGE_SOP_INSTANCE_UID);

    if (uid.empty() && other != nullptr)
    {
      uid = other->GetText();
    }

    identity = InstanceIdentity(uid, isKnown ? identifiers : "");
  }

  void ReceivedFile::FindProblem()
  {
    const DataElement* const pixels = dataSet.Find(TAG_PIXEL_DATA);
    const bool isDicom = hasPrefix || std::any_of(std::begin(IDENTIFIERS), std::end(IDENTIFIERS),
                                                  [this](const Identifier& identifier) {
                                                    return dataSet.Find(identifier.tag) != nullptr;
                                                  });

    if (image.isDeflated && !content.empty())
    {
      problem = "";  // nothing of it is known
    }
    else if (dataSet.result == ReadResult::Truncated)
    {
      problem = "the DICOM file is truncated";
    }
    // Native pixels in a compressed transfer syntax: Orthanc refuses them, and so does PS3.5 A.4
    else if (dataSet.result == ReadResult::Malformed ||
             (pixels != nullptr && pixels->HasValue() && IsEncapsulated(image.transferSyntax)))
    {
      problem = "the DICOM file is malformed";
    }

    problem = *problem == '\0' || isDicom ? problem : "not DICOM";
  }

  bool HasFilePrefix(std::string_view bytes) noexcept
  {
    return bytes.size() >= FILE_PREFIX_LENGTH &&
           bytes.substr(FILE_PREFIX_LENGTH - PREFIX.size(), PREFIX.size()) == PREFIX;
  }

  void ClearTiffPreamble(std::string& file) noexcept
  {
    // TIFF 6.0 section 2 and BigTIFF, in either order of bytes
    constexpr std::size_t LENGTH = 4;
    constexpr std::string_view HEADERS[] = {
        {"II*\0", LENGTH}, {"MM\0*", LENGTH}, {"II+\0", LENGTH}, {"MM\0+", LENGTH}};
    const std::string_view begin = std::string_view(file).substr(0, LENGTH);

    if (HasFilePrefix(file) &&
        std::find(std::begin(HEADERS), std::end(HEADERS), begin) != std::end(HEADERS))
    {
      std::fill_n(file.begin(), FILE_PREFIX_LENGTH - PREFIX.size(), '\0');
    }
  }
}
