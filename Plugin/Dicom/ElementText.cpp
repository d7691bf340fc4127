// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ElementText.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_PATIENT_ID = 0x00100020;

    bool IsSpace(char c)
    {
      return c == ' ' || (c >= '\t' && c <= '\r');
    }
  }


  bool IsText(const DataElement& element) noexcept
  {
    const ValueKind kind = element.representation.kind;
    return element.value != nullptr &&
           (kind == ValueKind::Unspecified || kind == ValueKind::Text || kind == ValueKind::Uid);
  }


  bool IsUid(const DataElement& element) noexcept
  {
    const ValueKind kind = element.representation.kind;
    return kind == ValueKind::Uid ||
           (kind == ValueKind::Unspecified && element.tag != TAG_PATIENT_ID);
  }


  ElementText::ElementText(const DataElement& element) noexcept :
    isUid_(IsUid(element)),
    text_(reinterpret_cast<const char*>(element.value), element.length)
  {
    while (!isUid_ && !text_.empty() && text_.back() == ' ')
    {
      text_.remove_suffix(1);
    }

    text_ = text_.substr(0, text_.find('\0'));
  }


  std::size_t ElementText::GetLength() const noexcept
  {
    return isUid_ ? static_cast<std::size_t>(std::count_if(text_.begin(), text_.end(),
                                                           [](char c) { return !IsSpace(c); }))
                  : text_.size();
  }


  void ElementText::HashTo(InstanceHasher& hasher) const noexcept
  {
    for (const char c : text_)
    {
      if (!isUid_ || !IsSpace(c))
      {
        hasher.Add(c);
      }
    }
  }


  void ElementText::CopyTo(UidText& target) const noexcept
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
}
