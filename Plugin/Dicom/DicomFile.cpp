// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DicomFile.h"

#include "Dicom/DicomFileWalk.h"
#include "Dicom/ElementText.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    // What Orthanc gets of an identifier's value (FromDcmtkBridge::ConvertLeafElement)
    enum class Content
    {
      Missing,   // not there, or a sequence, which is no value
      Unusable,  // too long, or of a VR that has no text
      Empty,
      Usable
    };

    Content ClassifyText(std::size_t length)
    {
      if (length == 0)
      {
        return Content::Empty;
      }

      return length <= InstanceHasher::MAXIMUM_IDENTIFIER_LENGTH ? Content::Usable
                                                                 : Content::Unusable;
    }

    Content Classify(const DataElement& element)
    {
      if (element.value == nullptr)
      {
        return Content::Missing;
      }

      switch (element.representation.kind)
      {
        case ValueKind::Unspecified:
        case ValueKind::Text:
        case ValueKind::Uid:
          return ClassifyText(ElementText(element).GetLength());

        case ValueKind::Unknown:
          // Orthanc looks UN up in the dictionary
          return element.representation.isStandard ? ClassifyText(element.length)
                                                   : Content::Unusable;

        case ValueKind::Number:
          return element.length >= element.representation.width ? Content::Usable
                                                                : Content::Unusable;

        default:
          return Content::Unusable;
      }
    }

    // Of VR UN, Orthanc takes the bytes as they are, but for the padding
    void HashUnknown(const DataElement& element, InstanceHasher& hasher)
    {
      const bool isPadded = element.length % 2 == 0 && element.value[element.length - 1] == 0;

      for (std::size_t i = 0; i < element.length - (isPadded ? 1 : 0); i++)
      {
        hasher.AddUndecoded(static_cast<char>(element.value[i]));
      }
    }

    // In the order in which Orthanc hashes them. DicomInstanceHasher: Patient ID may be absent or
    // empty, the others may not.
    struct Identifier
    {
      DicomTag tag;
      const char* missing;
      const char* unusable;
    };

    constexpr std::array<Identifier, 4> IDENTIFIERS = {
        {{0x00100020, "", "Patient ID cannot be read"},
         {0x0020000d, "Study Instance UID is missing", "Study Instance UID cannot be read"},
         {0x0020000e, "Series Instance UID is missing", "Series Instance UID cannot be read"},
         {0x00080018, "SOP Instance UID is missing", "SOP Instance UID cannot be read"}}};

    // Gathers the identifiers on the way through a data set. Of elements that come twice, DCMTK
    // keeps the first.
    class IdentifierCollector : public IDataElementVisitor
    {
    public:
      void VisitElement(const DataElement& element) noexcept override
      {
        for (std::size_t i = 0; i < IDENTIFIERS.size(); i++)
        {
          if (element.tag == IDENTIFIERS[i].tag && elements_[i].header == nullptr)
          {
            elements_[i] = element;
          }
        }

        if (element.tag == TAG_PIXEL_DATA)
        {
          hasNativePixelData_ |= !hasPixelData_ && element.length != UNDEFINED_LENGTH;
          hasPixelData_ = true;
        }
      }

      // The first identifier that keeps Orthanc from storing the instance; empty: none
      const char* GetProblem() const noexcept
      {
        for (std::size_t i = 0; i < IDENTIFIERS.size(); i++)
        {
          const Content content = Classify(elements_[i]);

          if (content == Content::Unusable)
          {
            return IDENTIFIERS[i].unusable;
          }

          if (content != Content::Usable && IDENTIFIERS[i].missing[0] != '\0')
          {
            return IDENTIFIERS[i].missing;
          }
        }

        return "";
      }

      // Nothing where Orthanc has no identifier for it, or one that is more than the text here
      void HashTo(InstanceHasher& hasher) const noexcept
      {
        for (std::size_t i = 0; i < IDENTIFIERS.size(); i++)
        {
          if (i > 0)
          {
            hasher.AddSeparator();
          }

          const Content content = Classify(elements_[i]);

          if (content == Content::Usable && IsText(elements_[i]))
          {
            ElementText(elements_[i]).HashTo(hasher);
          }
          else if (content == Content::Usable &&
                   elements_[i].representation.kind == ValueKind::Unknown)
          {
            HashUnknown(elements_[i], hasher);
          }
          else if (i > 0 || content == Content::Usable || content == Content::Unusable)
          {
            hasher.Reset();
            return;
          }
        }
      }

      void CopySopInstanceUid(UidText& target) const noexcept
      {
        if (Classify(elements_.back()) == Content::Usable && IsText(elements_.back()))
        {
          ElementText(elements_.back()).CopyTo(target);
        }
      }

      bool IsEmpty() const noexcept
      {
        return std::all_of(elements_.begin(), elements_.end(),
                           [](const DataElement& element) { return element.header == nullptr; });
      }

      // Whether the outermost Pixel Data has a defined length, thus is not compressed
      bool HasNativePixelData() const noexcept
      {
        return hasNativePixelData_;
      }

    private:
      std::array<DataElement, IDENTIFIERS.size()> elements_ = {};  // without a header: not there
      bool hasPixelData_ = false;
      bool hasNativePixelData_ = false;
    };

    DicomFileVerdict ToVerdict(WalkResult result)
    {
      switch (result)
      {
        case WalkResult::Truncated:
          return DicomFileVerdict::Truncated;

        case WalkResult::Malformed:
          return DicomFileVerdict::Malformed;

        case WalkResult::TooLong:
          return DicomFileVerdict::Unverified;

        default:
          return DicomFileVerdict::Readable;
      }
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

    DicomFileVerdict Judge(const DicomFileWalk& walk, const IdentifierCollector& identifiers)
    {
      if (!walk.hasDataSet)
      {
        return ToVerdict(walk.result);
      }

      if (walk.isDeflated && !walk.rest.empty())
      {
        return LooksDeflated(walk.rest) ? DicomFileVerdict::Unverified
                                        : DicomFileVerdict::Malformed;
      }

      if (walk.result == WalkResult::Truncated || walk.result == WalkResult::Malformed)
      {
        return ToVerdict(walk.result);
      }

      if (walk.syntax != nullptr && walk.syntax->isEncapsulated &&
          walk.syntax->coding != DataSetCoding::Guessed && identifiers.HasNativePixelData())
      {
        return DicomFileVerdict::Malformed;  // DcmDataset::doPostReadChecks
      }

      return *identifiers.GetProblem() == '\0' ? ToVerdict(walk.result)
                                               : DicomFileVerdict::IdentifiersMissing;
    }

    // DICOM PS3.10 table 7.1-1 has 17
    constexpr std::size_t MAXIMUM_ELEMENTS = 100;

    // The VRs of 64-bit integers are not among Orthanc's
    bool IsKnown(const ValueRepresentation& representation, std::uint8_t second)
    {
      return representation.isStandard &&
             (representation.kind != ValueKind::Opaque || second != 'V');
    }

    // Beside DCMTK, Orthanc has a reader of its own for the File Meta Information, which looks
    // after the prefix only and knows no other encoding than the standard's. It gives up quietly on
    // most errors, but refuses the file for a VR that it does not know
    // (DicomMap::ParseDicomMetaInformation). Whether it refuses these bytes, which begin with
    // preamble and prefix.
    bool IsFileMetaRefused(const void* data, std::size_t size)
    {
      const auto* const bytes = static_cast<const std::uint8_t*>(data);
      std::size_t position = FILE_PREFIX_LENGTH;
      std::size_t end = size;

      for (std::size_t i = 0; i <= MAXIMUM_ELEMENTS && position < end && size - position >= 6; i++)
      {
        const std::uint8_t* const element = bytes + position;
        const ValueRepresentation representation = GetValueRepresentation(element[4], element[5]);
        const std::size_t header = representation.hasLongLength ? 12 : 8;

        if (!IsKnown(representation, element[5]))
        {
          return true;
        }

        if (size - position < header)
        {
          break;
        }

        const std::size_t length = representation.hasLongLength
                                       ? boost::endian::load_little_u32(element + 8)
                                       : boost::endian::load_little_u16(element + 6);

        if (length > size - position - header)
        {
          break;
        }

        position += header + length;

        if (i == 0)
        {
          const bool isLength = boost::endian::load_little_u32(element) == 0x00000002 &&
                                element[4] == 'U' && element[5] == 'L' && length == 4;
          end = isLength ? position + boost::endian::load_little_u32(element + header) : 0;

          if (end > size)
          {
            break;
          }
        }
      }

      return false;
    }
  }

  const char* ToLabel(DicomFileVerdict verdict)
  {
    static constexpr std::array<const char*, 6> LABELS = {
        "readable", "unverified", "not DICOM", "truncated", "malformed", "identifiers missing"};
    return LABELS.at(static_cast<std::size_t>(verdict));
  }

  DicomFileCheck CheckDicomFile(const void* data, std::size_t size) noexcept
  {
    DicomFileCheck check;
    IdentifierCollector identifiers;
    const DicomFileWalk walk = WalkDicomFile(data, size, identifiers);
    check.transferSyntaxUid = walk.transferSyntax;
    identifiers.CopySopInstanceUid(check.sopInstanceUid);

    if (check.sopInstanceUid[0] == '\0')
    {
      check.sopInstanceUid = walk.mediaStorageSopInstanceUid;
    }

    check.verdict = Judge(walk, identifiers);
    const bool hasPrefix = HasFilePrefix(data, size);

    if (hasPrefix && check.IsAcceptable() && IsFileMetaRefused(data, size))
    {
      check.verdict = DicomFileVerdict::Malformed;
    }

    if (!hasPrefix && !check.IsAcceptable() && identifiers.IsEmpty())
    {
      check.verdict = DicomFileVerdict::NotDicom;
    }

    static constexpr std::array<const char*, 5> PROBLEMS = {
        "", "", "not DICOM", "the DICOM file is truncated", "the DICOM file is malformed"};
    check.problem = check.verdict == DicomFileVerdict::IdentifiersMissing
                        ? identifiers.GetProblem()
                        : PROBLEMS.at(static_cast<std::size_t>(check.verdict));
    identifiers.HashTo(check.hasher);
    return check;
  }
}
