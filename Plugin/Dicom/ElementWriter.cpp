// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/ElementWriter.h"

#include <stdexcept>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t LENGTH_SIZE = 4;

    void AppendTag(std::string& target, DicomTag tag)
    {
      AppendInteger(target, tag >> 16, 2);
      AppendInteger(target, tag & 0xffff, 2);
    }

    void CheckLength(std::size_t length, std::size_t limit)
    {
      if (length >= limit)
      {
        throw std::length_error("A value is too long for its value representation");
      }
    }
  }

  void AppendInteger(std::string& target, std::uint64_t value, std::size_t size)
  {
    for (std::size_t i = 0; i < size; i++)
    {
      target.push_back(static_cast<char>(value >> (8 * i) & 0xff));
    }
  }

  void AppendElement(std::string& target, DicomTag tag, std::string_view representation,
                     std::string_view value)
  {
    const ValueRepresentation parsed = GetValueRepresentation(representation[0], representation[1]);
    const std::size_t length = value.size() + value.size() % 2;
    CheckLength(length, parsed.hasLongLength ? UNDEFINED_LENGTH : 0x10000);

    AppendTag(target, tag);
    target.append(representation);
    AppendInteger(target, 0, parsed.hasLongLength ? 2 : 0);
    AppendInteger(target, length, parsed.hasLongLength ? 4 : 2);
    target.append(value);

    // DICOM PS3.5 section 6.2: spaces after text, a zero after all else
    target.append(value.size() % 2, parsed.kind == ValueKind::Text ? ' ' : '\0');
  }

  void AppendUndefinedLength(std::string& target, DicomTag tag, std::string_view representation)
  {
    AppendTag(target, tag);
    target.append(representation);
    AppendInteger(target, 0, 2);
    AppendInteger(target, UNDEFINED_LENGTH, 4);
  }

  void AppendItem(std::string& target, std::string_view content)
  {
    const std::size_t length = content.size() + content.size() % 2;
    CheckLength(length, UNDEFINED_LENGTH);
    AppendTag(target, TAG_ITEM);
    AppendInteger(target, length, LENGTH_SIZE);
    target.append(content);
    target.append(content.size() % 2, '\0');
  }

  void AppendSequenceDelimitation(std::string& target)
  {
    AppendTag(target, TAG_SEQUENCE_DELIMITATION);
    AppendInteger(target, 0, LENGTH_SIZE);
  }

  EncapsulatedPixels::EncapsulatedPixels(std::size_t frames)
  {
    const std::size_t table = frames > 1 ? LENGTH_SIZE * frames : 0;
    AppendUndefinedLength(element_, TAG_PIXEL_DATA, "OB");
    AppendItem(element_, std::string(table, '\0'));
    firstItem_ = element_.size();
    nextOffset_ = firstItem_ - table;
  }

  std::string& EncapsulatedPixels::BeginFrame()
  {
    if (nextOffset_ < firstItem_)
    {
      SetInteger(nextOffset_, element_.size() - firstItem_);
      nextOffset_ += LENGTH_SIZE;
    }

    AppendItem(element_, "");
    content_ = element_.size();
    return element_;
  }

  void EncapsulatedPixels::EndFrame()
  {
    // Fragments have an even length; decoders stop at the end of the image before the zero
    element_.append((element_.size() - content_) % 2, '\0');
    SetInteger(content_ - LENGTH_SIZE, element_.size() - content_);
  }

  std::string EncapsulatedPixels::Finish()
  {
    AppendSequenceDelimitation(element_);
    return std::move(element_);
  }

  void EncapsulatedPixels::SetInteger(std::size_t position, std::size_t value)
  {
    CheckLength(value, UNDEFINED_LENGTH);
    std::string bytes;
    AppendInteger(bytes, value, LENGTH_SIZE);
    element_.replace(position, LENGTH_SIZE, bytes);
  }
}
