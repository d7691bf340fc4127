// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DataSet.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // The header of an item, and of an element with a short length or in implicit VR
    constexpr std::size_t SHORT_HEADER = 8;
    constexpr std::size_t LONG_HEADER = 12;

    constexpr DicomTag FILE_META_GROUP = 0x0002;

    template <typename Integer>
    Integer Read(std::string_view bytes, bool isBigEndian)
    {
      const auto little = ReadLittle<Integer>(bytes);
      return isBigEndian ? boost::endian::endian_reverse(little) : little;
    }

    // The tags that have no VR, in any encoding: DICOM PS3.5 section 7.5
    bool IsDelimiter(DicomTag tag)
    {
      return tag == TAG_ITEM || tag == TAG_ITEM_DELIMITATION || tag == TAG_SEQUENCE_DELIMITATION;
    }

    bool IsPrivate(DicomTag tag)
    {
      return (tag >> 16 & 1) != 0;
    }

    // Bytes in implicit VR whatever they begin with: Pixel Data and Overlay Data (60xx,3000)
    bool IsPixels(DicomTag tag)
    {
      return tag == TAG_PIXEL_DATA || (tag & 0xff00ffff) == 0x60003000;
    }

    // Digital Signatures Sequence, and MAC Parameters Sequence, which says what they cover: DICOM
    // PS3.3 section C.12.1.1.3. Encrypted attributes are copied as they are and stay valid.
    bool BelongsToSignature(DicomTag tag)
    {
      return tag == 0xfffafffa || tag == 0x4ffe0001;
    }

    // What ends reading
    struct Stop
    {
      ReadResult result;
    };

    // Reads from the beginning of "bytes". A sequence of defined length is read up to an end that
    // is known, others up to their delimiter.
    class Reader
    {
    public:
      Reader(std::string_view bytes, DataSet& target) : bytes_(bytes), target_(target)
      {
      }

      void ReadFileMeta()
      {
        DicomTag last = 0;
        std::size_t end = bytes_.size();

        while (position_ < end && bytes_.size() - position_ >= 2 &&
               Read<std::uint16_t>(bytes_.substr(position_), false) == FILE_META_GROUP)
        {
          ReadElement({}, bytes_.size(), last);
          const std::string_view value = target_.elements.front().GetValue();

          if (last == TAG_FILE_META_LENGTH && value.size() == sizeof(std::uint32_t))
          {
            end = position_ + Read<std::uint32_t>(value, false);
          }
        }
      }

      void ReadAll(const DicomEncoding& encoding)
      {
        ReadElements(encoding, bytes_.size(), false);
      }

    private:
      // An element that is longer than what surrounds it is malformed
      std::string_view Take(std::size_t count, std::size_t end)
      {
        if (count > end - position_)
        {
          throw Stop{end == bytes_.size() ? ReadResult::Truncated : ReadResult::Malformed};
        }

        const std::string_view taken = bytes_.substr(position_, count);
        position_ += count;
        return taken;
      }

      void CountStep()
      {
        if (++steps_ > DataSet::MAXIMUM_STEPS)
        {
          throw Stop{ReadResult::TooLong};
        }
      }

      // Up to "end", or to the delimiter of an item
      void ReadElements(const DicomEncoding& encoding, std::size_t end, bool hasDelimiter)
      {
        DicomTag last = 0;

        while (!IsAtEnd(TAG_ITEM_DELIMITATION, hasDelimiter, encoding, end))
        {
          ReadElement(encoding, end, last);
        }
      }

      // Of what has a defined length; else a delimiter is the end, and is taken
      bool IsAtEnd(DicomTag delimiter, bool hasDelimiter, const DicomEncoding& encoding,
                   std::size_t end)
      {
        if (!hasDelimiter)
        {
          return position_ == end;
        }

        const bool isAtEnd = ReadTag(Take(SHORT_HEADER, end), encoding) == delimiter;
        position_ -= isAtEnd ? 0 : SHORT_HEADER;
        return isAtEnd;
      }

      static DicomTag ReadTag(std::string_view header, const DicomEncoding& encoding)
      {
        return static_cast<DicomTag>(Read<std::uint16_t>(header, encoding.isBigEndian)) << 16 |
               Read<std::uint16_t>(header.substr(2), encoding.isBigEndian);
      }

      // "last": the tag before this one
      void ReadElement(const DicomEncoding& encoding, std::size_t end, DicomTag& last)
      {
        CountStep();
        const std::size_t begin = position_;
        DataElement element;
        const std::uint32_t length = ReadHeader(element, encoding, end);
        target_.hasUnorderedElements |= element.tag <= last;
        target_.hasDigitalSignatures |= BelongsToSignature(element.tag);
        last = element.tag;

        if (!ReadStructure(element, length, encoding, end))
        {
          element.valueOffset = static_cast<std::uint32_t>(position_ - begin);
          Take(length, end);
        }

        if (depth_ == 0)
        {
          element.bytes = bytes_.substr(begin, position_ - begin);
          target_.elements.push_back(element);
        }
      }

      // Returns the length of the value
      std::uint32_t ReadHeader(DataElement& element, const DicomEncoding& encoding, std::size_t end)
      {
        const std::string_view header = Take(SHORT_HEADER, end);
        element.tag = ReadTag(header, encoding);

        if (IsDelimiter(element.tag))
        {
          throw Stop{ReadResult::Malformed};
        }

        if (!encoding.isExplicit)
        {
          return Read<std::uint32_t>(header.substr(4), encoding.isBigEndian);
        }

        element.representation = GetValueRepresentation(header[4], header[5]);

        if (element.representation.kind == ValueKind::Illegal)
        {
          throw Stop{ReadResult::Malformed};
        }

        return element.representation.hasLongLength
                   ? Read<std::uint32_t>(Take(LONG_HEADER - SHORT_HEADER, end),
                                         encoding.isBigEndian)
                   : Read<std::uint16_t>(header.substr(6), encoding.isBigEndian);
      }

      // Reads items or fragments. False: the element has a value instead.
      bool ReadStructure(const DataElement& element, std::uint32_t length,
                         const DicomEncoding& encoding, std::size_t end)
      {
        const ValueKind kind = element.representation.kind;

        if (kind == ValueKind::Sequence || (kind == ValueKind::Unspecified &&
                                            length == UNDEFINED_LENGTH && !IsPixels(element.tag)))
        {
          ReadItems(encoding, length, end);
        }
        else if (kind == ValueKind::Unknown && length == UNDEFINED_LENGTH)
        {
          // Its content is implicit little endian: PS3.5 section 6.2.2, note 2
          ReadItems({false, false}, length, end);
        }
        else if (length == UNDEFINED_LENGTH)
        {
          ReadFragments(element, encoding, end);
        }
        else
        {
          return kind == ValueKind::Unspecified &&
                 ReadIfSequence(element.tag, length, encoding, end);
        }

        return true;
      }

      // Without a data dictionary, a sequence of defined length in implicit VR is known by the item
      // that it begins with. A private one may be bytes all the same: it has to be a sequence down
      // to its end.
      bool ReadIfSequence(DicomTag tag, std::uint32_t length, const DicomEncoding& encoding,
                          std::size_t end)
      {
        if (IsPixels(tag) || length < SHORT_HEADER || bytes_.size() - position_ < SHORT_HEADER ||
            ReadTag(bytes_.substr(position_), encoding) != TAG_ITEM)
        {
          return false;
        }

        const std::size_t begin = position_;
        const std::size_t depth = depth_;

        try
        {
          ReadItems(encoding, length, end);
          return true;
        }
        catch (const Stop& stop)
        {
          if (!IsPrivate(tag) || stop.result == ReadResult::TooLong)
          {
            throw;
          }

          position_ = begin;
          depth_ = depth;
          target_.hasUnorderedElements = true;
          return false;
        }
      }

      void ReadItems(const DicomEncoding& encoding, std::uint32_t length, std::size_t end)
      {
        if (depth_ == DataSet::MAXIMUM_NESTING)
        {
          throw Stop{ReadResult::TooLong};
        }

        depth_++;
        const bool hasDelimiter = length == UNDEFINED_LENGTH;
        const std::size_t endOfItems = hasDelimiter ? end : GetEnd(length, end);

        while (!IsAtEnd(TAG_SEQUENCE_DELIMITATION, hasDelimiter, encoding, endOfItems))
        {
          CountStep();
          const std::uint32_t size = ReadItemHeader(encoding, endOfItems);
          const bool isOpen = size == UNDEFINED_LENGTH;
          ReadElements(encoding, isOpen ? endOfItems : GetEnd(size, endOfItems), isOpen);
        }

        depth_--;
      }

      // Of what has this length and begins here
      std::size_t GetEnd(std::uint32_t length, std::size_t end)
      {
        const std::size_t begin = position_;
        Take(length, end);
        return std::exchange(position_, begin);
      }

      std::uint32_t ReadItemHeader(const DicomEncoding& encoding, std::size_t end)
      {
        const std::string_view header = Take(SHORT_HEADER, end);

        if (ReadTag(header, encoding) != TAG_ITEM)
        {
          throw Stop{ReadResult::Malformed};
        }

        return Read<std::uint32_t>(header.substr(4), encoding.isBigEndian);
      }

      // Of encapsulated Pixel Data: DICOM PS3.5 section A.4
      void ReadFragments(const DataElement& element, const DicomEncoding& encoding, std::size_t end)
      {
        if (element.tag != TAG_PIXEL_DATA)
        {
          throw Stop{ReadResult::Malformed};
        }

        target_.hasNestedFragments |= depth_ > 0;

        while (!IsAtEnd(TAG_SEQUENCE_DELIMITATION, true, encoding, end))
        {
          CountStep();
          const std::uint32_t length = ReadItemHeader(encoding, end);

          if (length == UNDEFINED_LENGTH)
          {
            throw Stop{ReadResult::Malformed};
          }

          Take(length, end);
        }
      }

      const std::string_view bytes_;
      DataSet& target_;
      std::size_t position_ = 0;
      std::size_t steps_ = 0;
      std::size_t depth_ = 0;  // of sequences
    };

    template <typename Function>
    DataSet ReadBy(std::string_view bytes, Function read)
    {
      DataSet target;
      Reader reader(bytes, target);

      try
      {
        read(reader);
        target.result = ReadResult::Complete;
      }
      catch (const Stop& stop)
      {
        target.result = stop.result;
      }

      return target;
    }
  }

  const DataElement* DataSet::Find(DicomTag tag) const noexcept
  {
    const auto found =
        std::find_if(elements.begin(), elements.end(),
                     [tag](const DataElement& element) { return element.tag == tag; });
    return found == elements.end() ? nullptr : &*found;
  }

  DataSet ReadFileMeta(std::string_view bytes)
  {
    return ReadBy(bytes, [](Reader& reader) { reader.ReadFileMeta(); });
  }

  DataSet ReadDataSet(std::string_view bytes, const DicomEncoding& encoding)
  {
    return ReadBy(bytes, [&encoding](Reader& reader) { reader.ReadAll(encoding); });
  }
}
