// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DicomFile.h"

#include "Dicom/DataSetWalker.h"
#include "Dicom/InstanceHasher.h"

#include <algorithm>
#include <cstring>
#include <string_view>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_MEDIA_STORAGE_SOP_INSTANCE_UID = 0x00020003;
    constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;
    constexpr DicomTag TAG_SOP_INSTANCE_UID = 0x00080018;
    constexpr DicomTag TAG_PATIENT_ID = 0x00100020;
    constexpr DicomTag TAG_STUDY_INSTANCE_UID = 0x0020000d;
    constexpr DicomTag TAG_SERIES_INSTANCE_UID = 0x0020000e;

    // DICOM PS3.10 section 7.1
    constexpr std::size_t PREAMBLE_LENGTH = 128;
    constexpr std::string_view PREFIX = "DICM";

    bool IsSpace(char c)
    {
      return c == ' ' || (c >= '\t' && c <= '\r');
    }

    // The text as DCMTK gives it to Orthanc: up to the first zero; of a UID no white space
    // (DcmUniqueIdentifier::makeMachineByteString), of other texts no spaces at the end
    class TextReader
    {
    public:
      TextReader(const DataElement& element, bool isUid) noexcept : isUid_(isUid)
      {
        const char* const characters = reinterpret_cast<const char*>(element.value);
        text_ = std::string_view(characters, element.length);

        while (!isUid && !text_.empty() && text_.back() == ' ')
        {
          text_.remove_suffix(1);
        }

        text_ = text_.substr(0, text_.find('\0'));
      }

      std::size_t GetLength() const noexcept
      {
        return isUid_ ? static_cast<std::size_t>(std::count_if(text_.begin(), text_.end(),
                                                               [](char c) { return !IsSpace(c); }))
                      : text_.size();
      }

      void HashTo(InstanceHasher& hasher) const noexcept
      {
        for (const char c : text_)
        {
          if (!isUid_ || !IsSpace(c))
          {
            hasher.Add(c);
          }
        }
      }

      void CopyTo(UidText& target) const noexcept
      {
        std::size_t length = 0;

        for (const char c : text_)
        {
          if (length == MAXIMUM_UID_LENGTH)
          {
            break;
          }

          if (!isUid_ || !IsSpace(c))
          {
            target[length] = c;
            length++;
          }
        }

        target[length] = '\0';
      }

    private:
      bool isUid_;
      std::string_view text_;
    };

    bool IsText(const DataElement& element)
    {
      const ValueKind kind = element.representation.kind;
      return element.value != nullptr &&
             (kind == ValueKind::Unspecified || kind == ValueKind::Text || kind == ValueKind::Uid);
    }

    bool IsUid(const DataElement& element)
    {
      const ValueKind kind = element.representation.kind;
      return kind == ValueKind::Uid ||
             (kind == ValueKind::Unspecified && element.tag != TAG_PATIENT_ID);
    }

    void CopyUid(UidText& target, const DataElement& element)
    {
      if (IsText(element))
      {
        TextReader(element, IsUid(element)).CopyTo(target);
      }
    }

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
          return ClassifyText(TextReader(element, IsUid(element)).GetLength());

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

    // Gathers the identifiers on the way through a data set. Of elements that come twice, DCMTK
    // keeps the first.
    class IdentifierCollector : public IDataElementVisitor
    {
    public:
      explicit IdentifierCollector(UidText& sopInstanceUid) noexcept :
        sopInstanceUid_(sopInstanceUid)
      {
      }

      void VisitElement(const DataElement& element) noexcept override
      {
        switch (element.tag)
        {
          case TAG_SOP_INSTANCE_UID:
            if (Keep(sopInstance_, element) && sopInstance_.content == Content::Usable)
            {
              CopyUid(sopInstanceUid_, element);
            }
            break;

          case TAG_PATIENT_ID:
            Keep(patient_, element);
            break;

          case TAG_STUDY_INSTANCE_UID:
            Keep(study_, element);
            break;

          case TAG_SERIES_INSTANCE_UID:
            Keep(series_, element);
            break;

          case TAG_PIXEL_DATA:
            hasNativePixelData_ |= !hasPixelData_ && element.length != UNDEFINED_LENGTH;
            hasPixelData_ = true;
            break;

          default:
            break;
        }
      }

      // DicomInstanceHasher: Patient ID may be absent or empty, the others may not
      bool IsComplete() const noexcept
      {
        return study_.content == Content::Usable && series_.content == Content::Usable &&
               sopInstance_.content == Content::Usable && patient_.content != Content::Unusable;
      }

      // The first identifier that keeps Orthanc from storing the instance; empty: none
      const char* GetProblem() const noexcept
      {
        struct Problem
        {
          const Identifier& identifier;
          const char* missing;
          const char* unreadable;
        };

        for (const Problem& problem :
             {Problem{patient_, "", "Patient ID cannot be read"},
              Problem{study_, "Study Instance UID is missing", "Study Instance UID cannot be read"},
              Problem{series_, "Series Instance UID is missing",
                      "Series Instance UID cannot be read"},
              Problem{sopInstance_, "SOP Instance UID is missing",
                      "SOP Instance UID cannot be read"}})
        {
          const Content content = problem.identifier.content;
          const char* const text = content == Content::Unusable ? problem.unreadable
                                   : content == Content::Usable ? ""
                                                                : problem.missing;
          if (*text != '\0')
          {
            return text;
          }
        }

        return "";
      }

      // Nothing where Orthanc has no identifier for it, or one that is more than the text here
      void HashTo(InstanceHasher& hasher) const noexcept
      {
        for (const Identifier* identifier : {&patient_, &study_, &series_, &sopInstance_})
        {
          if (identifier != &patient_)
          {
            hasher.AddSeparator();
          }

          if (identifier->content == Content::Usable && IsText(identifier->element))
          {
            TextReader(identifier->element, IsUid(identifier->element)).HashTo(hasher);
          }
          else if (identifier != &patient_ || !MayBeAbsent(identifier->content))
          {
            hasher.Reset();
            return;
          }
        }
      }

      bool IsEmpty() const noexcept
      {
        return !study_.wasSeen && !series_.wasSeen && !sopInstance_.wasSeen && !patient_.wasSeen;
      }

      // Whether the outermost Pixel Data has a defined length, thus is not compressed
      bool HasNativePixelData() const noexcept
      {
        return hasNativePixelData_;
      }

    private:
      struct Identifier
      {
        bool wasSeen = false;
        Content content = Content::Missing;
        DataElement element = {};
      };

      static bool MayBeAbsent(Content content) noexcept
      {
        return content == Content::Missing || content == Content::Empty;
      }

      static bool Keep(Identifier& identifier, const DataElement& element) noexcept
      {
        if (identifier.wasSeen)
        {
          return false;
        }

        identifier.wasSeen = true;
        identifier.content = Classify(element);
        identifier.element = element;
        return true;
      }

      UidText& sopInstanceUid_;
      Identifier patient_;
      Identifier study_;
      Identifier series_;
      Identifier sopInstance_;
      bool hasPixelData_ = false;
      bool hasNativePixelData_ = false;
    };

    class FileMetaCollector : public IDataElementVisitor
    {
    public:
      explicit FileMetaCollector(DicomFileCheck& check) noexcept : check_(check)
      {
      }

      void VisitElement(const DataElement& element) noexcept override
      {
        // Under another VR than UI, DCMTK does not take it for a transfer syntax
        if (element.tag == TAG_TRANSFER_SYNTAX_UID && IsUid(element) &&
            check_.transferSyntaxUid[0] == '\0')
        {
          CopyUid(check_.transferSyntaxUid, element);
        }
        else if (element.tag == TAG_MEDIA_STORAGE_SOP_INSTANCE_UID)
        {
          CopyUid(check_.sopInstanceUid, element);
        }
      }

    private:
      DicomFileCheck& check_;
    };

    bool HasPrefix(const std::uint8_t* bytes, std::size_t size)
    {
      return size >= PREAMBLE_LENGTH + PREFIX.size() &&
             std::memcmp(bytes + PREAMBLE_LENGTH, PREFIX.data(), PREFIX.size()) == 0;
    }

    // Beside DCMTK, Orthanc has a reader of its own for the File Meta Information, which looks
    // after the prefix only and knows no other encoding than the standard's. It gives up quietly on
    // most errors, but refuses the file for a VR that it does not know
    // (DicomMap::ParseDicomMetaInformation).
    class OrthancFileMetaReader
    {
    public:
      OrthancFileMetaReader(const std::uint8_t* bytes, std::size_t size) noexcept :
        bytes_(bytes),
        size_(size)
      {
      }

      bool IsRefused() noexcept
      {
        if (!ReadElement() || !isLength_)
        {
          return isRefused_;
        }

        const std::size_t end = position_ + Read32(position_ - sizeof(std::uint32_t));

        for (std::size_t i = 0; i < MAXIMUM_ELEMENTS && position_ < end; i++)
        {
          if (end > size_ || !ReadElement())
          {
            break;
          }
        }

        return isRefused_;
      }

    private:
      // DICOM PS3.10 table 7.1-1 has 17
      static constexpr std::size_t MAXIMUM_ELEMENTS = 100;

      bool ReadElement() noexcept
      {
        if (size_ - position_ < 6)
        {
          return false;
        }

        const std::uint8_t* const vr = bytes_ + position_ + 4;
        const ValueRepresentation representation = GetValueRepresentation(vr[0], vr[1]);
        isRefused_ = !IsKnown(representation, vr[1]);

        const std::size_t header = representation.hasLongLength ? 12 : 8;

        if (isRefused_ || size_ - position_ < header)
        {
          return false;
        }

        const std::size_t length =
            representation.hasLongLength ? Read32(position_ + 8) : Read32(position_ + 4) >> 16;
        isLength_ = Read32(position_) == 0x00000002 && vr[0] == 'U' && vr[1] == 'L' && length == 4;

        if (length > size_ - position_ - header)
        {
          return false;
        }

        position_ += header + length;
        return true;
      }

      // The VRs of 64-bit integers are not among Orthanc's
      static bool IsKnown(const ValueRepresentation& representation, std::uint8_t second) noexcept
      {
        return representation.isStandard &&
               (representation.kind != ValueKind::Opaque || second != 'V');
      }

      std::uint32_t Read32(std::size_t position) const noexcept
      {
        const std::uint8_t* const p = bytes_ + position;
        return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
               static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24;
      }

      const std::uint8_t* const bytes_;
      const std::size_t size_;
      std::size_t position_ = PREAMBLE_LENGTH + PREFIX.size();
      bool isLength_ = false;
      bool isRefused_ = false;
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
    bool LooksDeflated(const std::uint8_t* bytes, std::size_t size)
    {
      constexpr std::size_t STORED_HEADER = 5;
      const int type = bytes[0] >> 1 & 3;

      if (type == 0 && size >= STORED_HEADER)
      {
        return (bytes[1] ^ bytes[3]) == 0xff && (bytes[2] ^ bytes[4]) == 0xff;
      }

      return type != 3;
    }

    // "syntax": null if it is unknown to DCMTK, which then guesses from the first element
    DicomFileVerdict CheckDataSet(DataSetWalker& walker, const TransferSyntax* syntax,
                                  IdentifierCollector& identifiers)
    {
      if (syntax != nullptr && syntax->coding == DataSetCoding::Deflated && !walker.IsAtEnd())
      {
        return LooksDeflated(walker.GetNext(), walker.GetRemaining()) ? DicomFileVerdict::Unverified
                                                                      : DicomFileVerdict::Malformed;
      }

      const WalkResult result = walker.WalkDataSet(walker.GetEncodingOf(syntax), identifiers);

      if (result == WalkResult::Truncated || result == WalkResult::Malformed)
      {
        return ToVerdict(result);
      }

      if (syntax != nullptr && syntax->isEncapsulated && syntax->coding != DataSetCoding::Guessed &&
          identifiers.HasNativePixelData())
      {
        return DicomFileVerdict::Malformed;  // DcmDataset::doPostReadChecks
      }

      return identifiers.IsComplete() ? ToVerdict(result) : DicomFileVerdict::IdentifiersMissing;
    }
  }

  namespace
  {
    const char* GetProblem(DicomFileVerdict verdict, const IdentifierCollector& identifiers)
    {
      switch (verdict)
      {
        case DicomFileVerdict::NotDicom:
          return "not DICOM";

        case DicomFileVerdict::Truncated:
          return "the DICOM file is truncated";

        case DicomFileVerdict::Malformed:
          return "the DICOM file is malformed";

        case DicomFileVerdict::IdentifiersMissing:
          return identifiers.GetProblem();

        default:
          return "";
      }
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
    const auto* const bytes = static_cast<const std::uint8_t*>(data);
    const bool hasPrefix = HasPrefix(bytes, size);

    DicomFileCheck check;
    DataSetWalker walker(bytes, size, hasPrefix ? PREAMBLE_LENGTH + PREFIX.size() : 0);
    FileMetaCollector fileMeta(check);
    IdentifierCollector identifiers(check.sopInstanceUid);

    const WalkResult result = walker.WalkFileMeta(fileMeta);
    check.verdict = ToVerdict(result);

    if (result == WalkResult::Complete)
    {
      check.verdict =
          CheckDataSet(walker, FindTransferSyntax(check.transferSyntaxUid.data()), identifiers);
    }

    if (hasPrefix && check.IsAcceptable() && OrthancFileMetaReader(bytes, size).IsRefused())
    {
      check.verdict = DicomFileVerdict::Malformed;
    }

    if (!hasPrefix && !check.IsAcceptable() && identifiers.IsEmpty())
    {
      check.verdict = DicomFileVerdict::NotDicom;
    }

    check.problem = GetProblem(check.verdict, identifiers);
    identifiers.HashTo(check.hasher);
    return check;
  }
}
