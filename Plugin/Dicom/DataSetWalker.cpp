// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DataSetWalker.h"

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_ITEM_DELIMITATION = 0xfffee00d;
    constexpr DicomTag TAG_VOI_LUT_SEQUENCE = 0x00283010;

    // The header of an item, and of an element with a short length or in implicit VR
    constexpr std::size_t SHORT_HEADER = 8;
    constexpr std::size_t LONG_HEADER = 12;

    // What DCMTK wants to see of an explicit element before it looks at it
    constexpr std::size_t TAG_AND_VR = 6;

    // The element that opens the File Meta Information: (0002,0000) UL
    constexpr std::size_t FILE_META_LENGTH_ELEMENT = 12;

    // The tags that have no VR, in any encoding: DICOM PS3.5 section 7.5
    bool IsDelimiter(DicomTag tag)
    {
      return tag == TAG_ITEM || tag == TAG_ITEM_DELIMITATION || tag == TAG_SEQUENCE_DELIMITATION;
    }

    bool IsPrivate(DicomTag tag)
    {
      return (tag >> 16 & 1) != 0;
    }

    // Overlay Data (60xx,3000) is never of undefined length: DICOM PS3.5 section 8.1.2
    bool IsOverlayData(DicomTag tag)
    {
      return (tag & 0xff00ffff) == 0x60003000;
    }

  }

  DataSetWalker::DataSetWalker(const std::uint8_t* data, std::size_t size,
                               std::size_t position) noexcept :
    data_(data),
    size_(size),
    position_(position)
  {
  }

  DicomEncoding DataSetWalker::DetectEncoding() const noexcept
  {
    DicomEncoding encoding;

    if (GetRemaining() >= TAG_AND_VR)
    {
      // Groups up to 00ff are those of patient, study, series and image; their swapped numbers
      // hardly exist. Both look alike if the two bytes are the same.
      const std::uint16_t group = Read16(0, false);
      encoding.isBigEndian = group > 0xff && boost::endian::endian_reverse(group) <= 0xff;
      encoding.isExplicit =
          GetValueRepresentation(data_[position_ + 4], data_[position_ + 5]).isStandard;
    }

    return encoding;
  }

  DicomEncoding DataSetWalker::GetEncodingOf(const TransferSyntax* syntax) const noexcept
  {
    if (syntax == nullptr || syntax->coding == DataSetCoding::Guessed)
    {
      return DetectEncoding();
    }

    return {syntax->coding != DataSetCoding::ImplicitLittleEndian,
            syntax->coding == DataSetCoding::ExplicitBigEndian};
  }

  WalkResult DataSetWalker::WalkFileMeta(IDataElementVisitor& visitor) noexcept
  {
    if (GetRemaining() < FILE_META_LENGTH_ELEMENT)
    {
      return WalkResult::Truncated;
    }

    if (!IsFileMetaNext())
    {
      return WalkResult::Complete;
    }

    return Walk({Level::FileMeta, DetectEncoding(), UNDEFINED_LENGTH, position_}, visitor);
  }

  WalkResult DataSetWalker::WalkDataSet(const DicomEncoding& encoding,
                                        IDataElementVisitor& visitor) noexcept
  {
    return Walk({Level::DataSet, encoding, UNDEFINED_LENGTH, position_}, visitor);
  }

  WalkResult DataSetWalker::Walk(const Frame& root, IDataElementVisitor& visitor) noexcept
  {
    const std::size_t outside = depth_;
    frames_[depth_] = root;
    depth_++;

    while (depth_ > outside)
    {
      if (IsTooLong())
      {
        return WalkResult::TooLong;
      }

      const bool isSequence = frames_[depth_ - 1].level == Level::Sequence;
      const WalkResult result = isSequence ? ReadItem() : ReadElement(visitor);

      if (result != WalkResult::Complete)
      {
        return result;
      }
    }

    return WalkResult::Complete;
  }

  // What was looked through as a private sequence was counted there
  bool DataSetWalker::IsTooLong() noexcept
  {
    return position_ >= endOfPrivate_ && ++steps_ > MAXIMUM_STEPS;
  }

  bool DataSetWalker::IsItemComplete() noexcept
  {
    const Frame& frame = frames_[depth_ - 1];
    const bool hasLength = frame.length != UNDEFINED_LENGTH;
    const bool isFull = hasLength && position_ - frame.start >= frame.length;

    if (IsAtEnd())
    {
      endsInside_ |= hasLength ? !isFull : frame.level == Level::Item;
      return true;  // DCMTK leaves it to the surrounding sequence to complain
    }

    if (hasLength)
    {
      return isFull;
    }

    return frame.level == Level::FileMeta && !IsFileMetaNext();
  }

  bool DataSetWalker::IsFileMetaNext() const noexcept
  {
    return GetRemaining() >= 2 && (Read16(0, false) == 0x0002 || Read16(0, true) == 0x0002);
  }

  WalkResult DataSetWalker::ReadElement(IDataElementVisitor& visitor) noexcept
  {
    if (IsItemComplete())
    {
      depth_--;
      return WalkResult::Complete;
    }

    const bool opensFileMeta =
        frames_[depth_ - 1].level == Level::FileMeta && position_ == frames_[0].start;

    DataElement element;
    element.header = data_ + position_;
    WalkResult result = ReadHeader(element);

    if (result == WalkResult::Complete)
    {
      result = IsDelimiter(element.tag) ? ReadDelimiter(element) : ReadValue(element, visitor);
    }

    if (result == WalkResult::Complete && opensFileMeta && element.tag == TAG_FILE_META_LENGTH &&
        element.length > 0)
    {
      result = ReadFileMetaLength(element);
    }

    return result;
  }

  WalkResult DataSetWalker::ReadHeader(DataElement& element) noexcept
  {
    const Frame& frame = frames_[depth_ - 1];
    const bool isBigEndian = frame.encoding.isBigEndian;

    if (GetRemaining() < SHORT_HEADER)
    {
      return WalkResult::Truncated;
    }

    element.tag = ReadTag(isBigEndian);

    if (!frame.encoding.isExplicit || IsDelimiter(element.tag))
    {
      element.length = Read32(4, isBigEndian);
      position_ += SHORT_HEADER;
    }
    else
    {
      element.representation = GetValueRepresentation(data_[position_ + 4], data_[position_ + 5]);

      if (!element.representation.hasLongLength)
      {
        element.length = Read16(6, isBigEndian);
        position_ += SHORT_HEADER;
      }
      else if (GetRemaining() >= LONG_HEADER)
      {
        element.length = Read32(8, isBigEndian);
        position_ += LONG_HEADER;
      }
      else
      {
        return WalkResult::Truncated;
      }
    }

    if (frame.level == Level::Item && frame.length != UNDEFINED_LENGTH &&
        element.length != UNDEFINED_LENGTH)
    {
      // An item that is already too long is let through, one that would become so is not
      const std::size_t used = position_ - frame.start;

      if (used <= frame.length && element.length > frame.length - used)
      {
        return WalkResult::Malformed;
      }
    }

    return WalkResult::Complete;
  }

  WalkResult DataSetWalker::ReadDelimiter(const DataElement& element) noexcept
  {
    if (element.tag != TAG_ITEM_DELIMITATION)
    {
      return WalkResult::Malformed;
    }

    depth_--;  // DCMTK ends whatever it reads here, be it the data set
    return WalkResult::Complete;
  }

  WalkResult DataSetWalker::ReadValue(DataElement& element, IDataElementVisitor& visitor) noexcept
  {
    const ValueKind kind = element.representation.kind;

    if (kind == ValueKind::Illegal)
    {
      return WalkResult::Malformed;
    }

    if (element.length != UNDEFINED_LENGTH && kind != ValueKind::Sequence &&
        !LooksLikeSequence(element))
    {
      if (element.length > GetRemaining())
      {
        return WalkResult::Truncated;
      }

      if (kind == ValueKind::Bytes && element.tag == TAG_VOI_LUT_SEQUENCE)
      {
        return WalkResult::Malformed;  // DCMTK: EC_VOI_LUT_OBOW
      }

      element.value = data_ + position_;
      position_ += element.length;
    }

    Frame& frame = frames_[depth_ - 1];
    hasUnorderedElements_ |= element.tag <= frame.last;
    frame.last = element.tag;

    if (depth_ == 1)
    {
      visitor.VisitElement(element);
    }
    else
    {
      visitor.VisitNestedElement(element);
    }

    if (element.value != nullptr)
    {
      return WalkResult::Complete;
    }

    if (element.length == UNDEFINED_LENGTH)
    {
      return ReadUndefinedLength(element);
    }

    return Enter(Level::Sequence, frames_[depth_ - 1].encoding, element.length);
  }

  WalkResult DataSetWalker::ReadUndefinedLength(const DataElement& element) noexcept
  {
    const DicomEncoding encoding = frames_[depth_ - 1].encoding;
    const bool isPixelData = element.tag == TAG_PIXEL_DATA;

    switch (element.representation.kind)
    {
      case ValueKind::Sequence:
        return Enter(Level::Sequence, encoding, UNDEFINED_LENGTH);

      case ValueKind::Unknown:
      {
        // Its content is implicit little endian: DICOM PS3.5 section 6.2.2, note 2 (CP-246)
        const bool isNonStandardPixelData = isPixelData && !element.representation.isStandard &&
                                            data_[position_ - 8] == 'O' &&
                                            data_[position_ - 7] == 'X';
        return isNonStandardPixelData ? ReadFragments()
                                      : Enter(Level::Sequence, {false, false}, UNDEFINED_LENGTH);
      }

      case ValueKind::Pixels:
        return ReadFragments();

      case ValueKind::Bytes:
        return isPixelData ? ReadFragments() : WalkResult::Malformed;

      case ValueKind::Unspecified:
        if (isPixelData)
        {
          return ReadFragments();
        }
        return IsOverlayData(element.tag) ? WalkResult::Malformed
                                          : Enter(Level::Sequence, encoding, UNDEFINED_LENGTH);

      default:
        return WalkResult::Malformed;
    }
  }

  // Without a data dictionary, a sequence of defined length in implicit VR is known by the item
  // that it begins with. DCMTK's dictionary has few private ones, so that such an item may be bytes
  // to it, in which nothing is wrong: they have to be a sequence down to the last byte.
  bool DataSetWalker::LooksLikeSequence(const DataElement& element) noexcept
  {
    if (element.representation.kind != ValueKind::Unspecified || element.length < SHORT_HEADER ||
        GetRemaining() < SHORT_HEADER)
    {
      return false;
    }

    const DicomTag first = ReadTag(frames_[depth_ - 1].encoding.isBigEndian);
    return (first == TAG_ITEM || first == TAG_SEQUENCE_DELIMITATION) &&
           element.tag != TAG_PIXEL_DATA && !IsOverlayData(element.tag) &&
           (!IsPrivate(element.tag) || IsPrivateSequence(element.length));
  }

  bool DataSetWalker::IsPrivateSequence(std::uint32_t length) noexcept
  {
    if (isInPrivate_ || position_ < endOfPrivate_)
    {
      return true;
    }

    if (length > GetRemaining() || depth_ == frames_.size())
    {
      return false;
    }

    IgnoringVisitor visitor;
    DataSetWalker walker(data_ + position_, length, 0);
    walker.isInPrivate_ = true;
    walker.depth_ = depth_;
    walker.steps_ = steps_;
    const Frame root = {Level::Sequence, frames_[depth_ - 1].encoding, length, 0};
    const bool isSequence = walker.Walk(root, visitor) == WalkResult::Complete &&
                            walker.IsAtEnd() && !walker.EndsInside();
    steps_ = walker.steps_;

    // Who takes it for one all the same, by a dictionary, may find in it what is not looked for
    // here
    hasUnorderedElements_ |= !isSequence;

    if (isSequence)
    {
      endOfPrivate_ = position_ + length;
    }

    return isSequence;
  }

  WalkResult DataSetWalker::ReadItem() noexcept
  {
    const Frame frame = frames_[depth_ - 1];

    if (frame.length != UNDEFINED_LENGTH && position_ - frame.start >= frame.length)
    {
      depth_--;
      return WalkResult::Complete;
    }

    if (GetRemaining() < SHORT_HEADER)
    {
      return WalkResult::Truncated;
    }

    const DicomTag tag = ReadTag(frame.encoding.isBigEndian);
    const std::uint32_t length = Read32(4, frame.encoding.isBigEndian);
    position_ += SHORT_HEADER;

    if (tag == TAG_ITEM)
    {
      return Enter(Level::Item, frame.encoding, length);
    }

    if (tag != TAG_SEQUENCE_DELIMITATION)
    {
      return WalkResult::Malformed;
    }

    depth_--;
    return WalkResult::Complete;
  }

  // The fragments of encapsulated pixel data: DICOM PS3.5 section A.4
  WalkResult DataSetWalker::ReadFragments() noexcept
  {
    const bool isBigEndian = frames_[depth_ - 1].encoding.isBigEndian;

    if (IsAtEnd())
    {
      endsInside_ = true;
      return WalkResult::Complete;
    }

    while (GetRemaining() >= SHORT_HEADER)
    {
      const DicomTag tag = ReadTag(isBigEndian);
      const std::uint32_t length = Read32(4, isBigEndian);
      position_ += SHORT_HEADER;

      if (tag == TAG_SEQUENCE_DELIMITATION)
      {
        return WalkResult::Complete;
      }

      if (tag != TAG_ITEM || length == UNDEFINED_LENGTH)
      {
        return WalkResult::Malformed;
      }

      if (length > GetRemaining())
      {
        return WalkResult::Truncated;
      }

      if (length == 0 && IsAtEnd())
      {
        endsInside_ = true;
        return WalkResult::Complete;  // DCMTK takes an empty last fragment for the end
      }

      position_ += length;

      if (IsTooLong())
      {
        return WalkResult::TooLong;
      }
    }

    return WalkResult::Truncated;
  }

  WalkResult DataSetWalker::ReadFileMetaLength(const DataElement& element) noexcept
  {
    const ValueRepresentation& representation = element.representation;
    const bool isUnsignedLong =
        representation.kind == ValueKind::Unspecified ||
        (data_[frames_[0].start + 4] == 'U' && data_[frames_[0].start + 5] == 'L');

    if (!isUnsignedLong || element.length < 4 || element.value == nullptr)
    {
      return WalkResult::Malformed;
    }

    // The value counts from its own end, the frame from the beginning; 32 bits as in DCMTK
    const std::size_t value = position_;
    position_ = static_cast<std::size_t>(element.value - data_);
    const std::uint32_t length = Read32(0, frames_[0].encoding.isBigEndian);
    position_ = value;
    frames_[0].length = length + static_cast<std::uint32_t>(position_ - frames_[0].start);
    return WalkResult::Complete;
  }

  WalkResult DataSetWalker::Enter(Level level, const DicomEncoding& encoding,
                                  std::uint32_t length) noexcept
  {
    if (level == Level::Sequence && IsAtEnd())
    {
      endsInside_ |= length != 0;
      return WalkResult::Complete;  // DCMTK takes the header of a sequence for the end, too
    }

    if (depth_ == frames_.size())
    {
      return WalkResult::TooLong;
    }

    frames_[depth_] = {level, encoding, length, position_};
    depth_++;
    return WalkResult::Complete;
  }

  std::uint16_t DataSetWalker::Read16(std::size_t offset, bool isBigEndian) const noexcept
  {
    const std::uint8_t* const bytes = data_ + position_ + offset;
    return isBigEndian ? boost::endian::load_big_u16(bytes) : boost::endian::load_little_u16(bytes);
  }

  std::uint32_t DataSetWalker::Read32(std::size_t offset, bool isBigEndian) const noexcept
  {
    const std::uint8_t* const bytes = data_ + position_ + offset;
    return isBigEndian ? boost::endian::load_big_u32(bytes) : boost::endian::load_little_u32(bytes);
  }

  DicomTag DataSetWalker::ReadTag(bool isBigEndian) const noexcept
  {
    return static_cast<DicomTag>(Read16(0, isBigEndian)) << 16 | Read16(2, isBigEndian);
  }
}
