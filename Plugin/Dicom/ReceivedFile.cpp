// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ReceivedFile.h"

#include <algorithm>
#include <cstdint>
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


    // Of a UN, which may be of any VR, Orthanc takes the bytes without the zero that makes their
    // number even, and decodes no character set
    std::optional<std::string_view> ReadUnknown(std::string_view value)
    {
      const auto isPrintable = [](char character)
      {
        return character >= ' ' && character <= '~';
      };
      const bool isPadded = !value.empty() && value.size() % 2 == 0 && value.back() == '\0';
      value.remove_suffix(isPadded ? 1 : 0);
      return std::all_of(value.begin(), value.end(), isPrintable) ? std::make_optional(value)
                                                                  : std::nullopt;
    }


    // Nothing where DCMTK gives Orthanc more than the value without its padding
    std::optional<std::string_view> ReadText(std::string_view value, ValueKind kind)
    {
      std::string_view text = value.substr(0, value.find('\0'));

      // Spaces before a zero are a part of a text
      if (text.size() == value.size() || kind == ValueKind::Uid)
      {
        text = text.substr(0, text.find_last_not_of(' ') + 1);
      }

      const bool isAll = value.find_first_not_of('\0', value.find('\0')) == std::string_view::npos;
      return isAll ? std::make_optional(text) : std::nullopt;
    }


    // The text that DCMTK gives to Orthanc; nothing where that cannot be told
    std::optional<std::string_view> ReadIdentifier(const DataElement& element, ValueKind expected)
    {
      const ValueKind kind = element.representation.kind;
      std::optional<std::string_view> text;

      if (kind == ValueKind::Unknown && element.representation.isStandard && element.HasValue())
      {
        text = ReadUnknown(element.GetValue());
      }
      else if ((kind == expected || kind == ValueKind::Unspecified) && element.HasValue())
      {
        text = ReadText(element.GetValue(), expected);
      }

      const bool hasSpaces =
          text.has_value() && text->find_first_of(" \t\n\v\f\r") != std::string_view::npos;
      return expected == ValueKind::Uid && hasSpaces ? std::nullopt : text;
    }


    // Whether the bytes begin as RFC 1951 section 3.2.3 wants it: a block of a known type, and the
    // length of a stored one with its complement
    bool LooksDeflated(std::string_view bytes)
    {
      constexpr std::size_t STORED_HEADER = 5;
      const int type = bytes[0] >> 1 & 3;

      if (type == 0 && bytes.size() >= STORED_HEADER)
      {
        const auto isComplement = [](char byte, char other)
        {
          return static_cast<std::uint8_t>(byte ^ other) == 0xff;
        };
        return isComplement(bytes[1], bytes[3]) && isComplement(bytes[2], bytes[4]);
      }

      return type != 3;
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
    problem = FindProblem();
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
      encoding = syntax == nullptr
                     ? GuessEncoding(content)
                     : DicomEncoding{syntax->coding != DataSetCoding::ImplicitLittleEndian,
                                     syntax->coding == DataSetCoding::ExplicitBigEndian};
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
      const auto text =
          element == nullptr ? std::string_view() : ReadIdentifier(*element, identifier.kind);
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


  const char* ReceivedFile::FindProblem() const
  {
    const bool isDicom = hasPrefix || std::any_of(std::begin(IDENTIFIERS), std::end(IDENTIFIERS),
                                                  [this](const Identifier& identifier) {
                                                    return dataSet.Find(identifier.tag) != nullptr;
                                                  });

    if (image.isDeflated && !content.empty())
    {
      return LooksDeflated(content) ? "" : "the DICOM file is malformed";
    }

    if (dataSet.result == ReadResult::Truncated || dataSet.result == ReadResult::Malformed)
    {
      return !isDicom                                  ? "not DICOM"
             : dataSet.result == ReadResult::Truncated ? "the DICOM file is truncated"
                                                       : "the DICOM file is malformed";
    }

    // Native pixels in a compressed transfer syntax: Orthanc refuses them, and so does PS3.5 A.4
    const DataElement* const pixels = dataSet.Find(TAG_PIXEL_DATA);

    if (pixels != nullptr && pixels->HasValue() && IsEncapsulated(image.transferSyntax))
    {
      return "the DICOM file is malformed";
    }

    for (const Identifier& identifier : IDENTIFIERS)
    {
      const DataElement* const element = dataSet.Find(identifier.tag);
      const std::size_t length = element == nullptr ? 0 : element->GetText().size();

      if (length > MAXIMUM_IDENTIFIER_LENGTH)
      {
        return "Patient ID or a UID is longer than Orthanc keeps";
      }

      if (length == 0 && identifier.kind == ValueKind::Uid)
      {
        return isDicom ? identifier.missing : "not DICOM";
      }
    }

    return "";
  }


  ImageDescription DescribeImage(const void* data, std::size_t size)
  {
    return ReceivedFile(data, size).image;
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
