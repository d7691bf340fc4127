// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DicomFile.h"

#include "Dicom/DicomFileWalk.h"
#include "Dicom/ElementText.h"
#include "Dicom/OrthancFileMeta.h"

#include <array>
#include <string_view>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_SOP_INSTANCE_UID = 0x00080018;
    constexpr DicomTag TAG_PATIENT_ID = 0x00100020;
    constexpr DicomTag TAG_STUDY_INSTANCE_UID = 0x0020000d;
    constexpr DicomTag TAG_SERIES_INSTANCE_UID = 0x0020000e;

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
            if (Keep(sopInstance_, element) && sopInstance_.content == Content::Usable &&
                IsText(element))
            {
              ElementText(element).CopyTo(sopInstanceUid_);
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
            ElementText(identifier->element).HashTo(hasher);
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
        return (bytes[1] ^ bytes[3]) == -1 && (bytes[2] ^ bytes[4]) == -1;
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

      return identifiers.IsComplete() ? ToVerdict(walk.result)
                                      : DicomFileVerdict::IdentifiersMissing;
    }

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
    DicomFileCheck check;
    IdentifierCollector identifiers(check.sopInstanceUid);
    const DicomFileWalk walk = WalkDicomFile(data, size, identifiers);
    check.transferSyntaxUid = walk.transferSyntax;

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

    check.problem = GetProblem(check.verdict, identifiers);
    identifiers.HashTo(check.hasher);
    return check;
  }
}
