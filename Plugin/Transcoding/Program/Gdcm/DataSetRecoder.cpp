// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/DataSetRecoder.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Gdcm/DataDictionary.h"

#include <algorithm>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_PIXEL_REPRESENTATION = 0x00280103;
    constexpr DicomTag TAG_ITEM = 0xfffee000;
    constexpr DicomTag TAG_ITEM_DELIMITATION = 0xfffee00d;
    constexpr DicomTag TAG_SEQUENCE_DELIMITATION = 0xfffee0dd;
    constexpr DicomEncoding IMPLICIT = {false, false};

    struct Header
    {
      DicomTag tag = 0;
      std::string_view representation;  // empty: of an item or a delimiter
      std::uint32_t length = 0;
    };

    // Reads one after the other; never past the end
    class Reader
    {
    public:
      explicit Reader(std::string_view bytes) : bytes_(bytes)
      {
      }

      bool IsAtEnd() const
      {
        return bytes_.empty();
      }

      std::string_view Read(std::size_t size)
      {
        if (size > bytes_.size())
        {
          throw CodecError("The data set ends inside an element");
        }

        const std::string_view part = bytes_.substr(0, size);
        bytes_.remove_prefix(size);
        return part;
      }

      std::string_view Peek(std::size_t size) const
      {
        return bytes_.substr(0, size);
      }

      std::uint32_t ReadInteger(std::size_t size, bool isBigEndian)
      {
        std::uint32_t value = 0;
        const std::string_view part = Read(size);

        for (std::size_t i = 0; i < size; i++)
        {
          const std::size_t position = isBigEndian ? i : size - 1 - i;
          value = value << 8 | static_cast<std::uint8_t>(part[position]);
        }

        return value;
      }

      Header ReadHeader(const DicomEncoding& encoding)
      {
        Header header;
        header.tag = ReadInteger(2, encoding.isBigEndian) << 16;
        header.tag |= ReadInteger(2, encoding.isBigEndian);

        if (!encoding.isExplicit || header.tag >> 16 == TAG_ITEM >> 16)
        {
          header.length = ReadInteger(4, encoding.isBigEndian);
          return header;
        }

        header.representation = Read(2);
        const bool isLong = HasLongLength(header.representation);
        Read(isLong ? 2 : 0);
        header.length = ReadInteger(isLong ? 4 : 2, encoding.isBigEndian);
        return header;
      }

      static bool HasLongLength(std::string_view representation)
      {
        return GetValueRepresentation(static_cast<std::uint8_t>(representation[0]),
                                      static_cast<std::uint8_t>(representation[1]))
            .hasLongLength;
      }

    private:
      std::string_view bytes_;
    };

    // The width of the numbers whose bytes are turned around: PS3.5 section 7.3
    std::size_t GetWidth(std::string_view representation)
    {
      struct Width
      {
        std::string_view representations;
        std::size_t width;
      };

      static constexpr Width WIDTHS[] = {
          {"US SS OW AT", 2}, {"UL SL FL OF OL", 4}, {"FD OD OV SV UV", 8}};

      for (const Width& width : WIDTHS)
      {
        if (width.representations.find(representation) != std::string_view::npos)
        {
          return width.width;
        }
      }

      return 1;
    }

    class Recoder
    {
    public:
      Recoder(const DicomEncoding& source, const DicomEncoding& target) :
        source_(source),
        target_(target)
      {
      }

      std::string Run(std::string_view dataSet)
      {
        Reader reader(dataSet);
        written_.reserve(dataSet.size() + dataSet.size() / 8);

        while (!reader.IsAtEnd())
        {
          const Header header = reader.ReadHeader(source_);

          if (header.tag >> 16 == TAG_ITEM >> 16)
          {
            throw CodecError("An item or a delimiter stands where an element has to be");
          }

          RecodeElement(header, reader);
        }

        return std::move(written_);
      }

    private:
      void RecodeElement(Header header, Reader& reader)
      {
        if (!source_.isExplicit)
        {
          header.representation = LookupRepresentation(header.tag, isSigned_);
        }

        if (header.length == UNDEFINED_LENGTH)
        {
          RecodeUndefinedLength(header, reader);
        }
        else if (header.representation == "SQ" && LooksLikeItems(header, reader))
        {
          Reader items(reader.Read(header.length));
          RecodeSequence(header, items);
        }
        else
        {
          RecodeValue(header, reader.Read(header.length));
        }
      }

      void RecodeUndefinedLength(const Header& header, Reader& reader)
      {
        if (header.representation == "SQ")
        {
          RecodeSequence(header, reader);
        }
        else if (header.tag != TAG_PIXEL_DATA && header.representation == "UN")
        {
          WriteHeader(header.tag, "UN", UNDEFINED_LENGTH);
          CopySequence(reader);
        }
        else
        {
          throw CodecError("An element of undefined length is no sequence");
        }
      }

      // What the dictionary calls a sequence, and was written by someone who did not know
      bool LooksLikeItems(const Header& header, const Reader& reader) const
      {
        if (header.length == 0 || source_.isExplicit)
        {
          return true;
        }

        return reader.Peek(4) == "\xfe\xff\x00\xe0" || reader.Peek(4) == "\xfe\xff\xdd\xe0";
      }

      void RecodeSequence(const Header& header, Reader& reader)
      {
        WriteHeader(header.tag, "SQ", UNDEFINED_LENGTH);

        // One with a length ends with it; a delimiter may be there all the same
        while (header.length == UNDEFINED_LENGTH || !reader.IsAtEnd())
        {
          const Header item = reader.ReadHeader(source_);

          if (item.tag == TAG_SEQUENCE_DELIMITATION)
          {
            break;
          }

          if (item.tag != TAG_ITEM)
          {
            throw CodecError("An element stands where an item has to be");
          }

          RecodeItem(item, reader);
        }

        WriteHeader(TAG_SEQUENCE_DELIMITATION, "", 0);
      }

      void RecodeItem(const Header& item, Reader& reader)
      {
        WriteHeader(TAG_ITEM, "", UNDEFINED_LENGTH);

        if (item.length == UNDEFINED_LENGTH)
        {
          RecodeElements(reader, true);
        }
        else
        {
          Reader elements(reader.Read(item.length));
          RecodeElements(elements, false);
        }

        WriteHeader(TAG_ITEM_DELIMITATION, "", 0);
      }

      void RecodeElements(Reader& reader, bool isDelimited)
      {
        while (isDelimited || !reader.IsAtEnd())
        {
          const Header header = reader.ReadHeader(source_);

          if (header.tag == TAG_ITEM_DELIMITATION)
          {
            return;
          }

          RecodeElement(header, reader);
        }
      }

      // In Implicit VR Little Endian, here and there
      void CopySequence(Reader& reader)
      {
        for (;;)
        {
          const Header item = reader.ReadHeader(IMPLICIT);
          WriteImplicit(item);

          if (item.tag == TAG_SEQUENCE_DELIMITATION)
          {
            return;
          }

          if (item.length != UNDEFINED_LENGTH)
          {
            written_.append(reader.Read(item.length));
            continue;
          }

          for (Header element; element.tag != TAG_ITEM_DELIMITATION;)
          {
            element = reader.ReadHeader(IMPLICIT);
            WriteImplicit(element);

            if (element.length == UNDEFINED_LENGTH)
            {
              CopySequence(reader);
            }
            else
            {
              written_.append(reader.Read(element.length));
            }
          }
        }
      }

      void RecodeValue(const Header& header, std::string_view value)
      {
        std::string_view representation = header.representation;

        // Longer than this VR can say: PS3.5 section 6.2.2, note 1
        if (target_.isExplicit && !Reader::HasLongLength(representation) &&
            value.size() > std::numeric_limits<std::uint16_t>::max())
        {
          representation = "UN";
        }

        if (header.representation == "SQ")
        {
          representation = "UN";
        }

        WriteHeader(header.tag, representation, static_cast<std::uint32_t>(value.size()));
        const std::size_t begin = written_.size();
        written_.append(value);

        if (source_.isBigEndian != target_.isBigEndian)
        {
          SwapBytes(begin, GetWidth(header.representation));
        }

        if (header.tag == TAG_PIXEL_REPRESENTATION && value.size() == 2)
        {
          isSigned_ = value[0] != 0 || value[1] != 0;
        }
      }

      void SwapBytes(std::size_t begin, std::size_t width)
      {
        for (; begin + width <= written_.size(); begin += width)
        {
          const auto first = written_.begin() + static_cast<std::ptrdiff_t>(begin);
          std::reverse(first, first + static_cast<std::ptrdiff_t>(width));
        }
      }

      void WriteInteger(std::uint32_t value, std::size_t size, bool isBigEndian)
      {
        for (std::size_t i = 0; i < size; i++)
        {
          const std::size_t byte = isBigEndian ? size - 1 - i : i;
          written_.push_back(static_cast<char>(value >> (8 * byte) & 0xff));
        }
      }

      void WriteHeader(DicomTag tag, std::string_view representation, std::uint32_t length)
      {
        const bool isBigEndian = target_.isBigEndian;
        std::size_t lengthSize = 4;
        WriteInteger(tag >> 16, 2, isBigEndian);
        WriteInteger(tag & 0xffff, 2, isBigEndian);

        if (target_.isExplicit && !representation.empty())
        {
          written_.append(representation);
          const bool isLong = Reader::HasLongLength(representation);
          written_.append(isLong ? 2 : 0, '\0');
          lengthSize = isLong ? 4 : 2;
        }

        WriteInteger(length, lengthSize, isBigEndian);
      }

      void WriteImplicit(const Header& header)
      {
        WriteInteger(header.tag >> 16, 2, false);
        WriteInteger(header.tag & 0xffff, 2, false);
        WriteInteger(header.length, 4, false);
      }

      const DicomEncoding source_;
      const DicomEncoding target_;
      bool isSigned_ = false;
      std::string written_;
    };
  }


  std::string RecodeDataSet(std::string_view dataSet, const DicomEncoding& source,
                            const DicomEncoding& target)
  {
    return Recoder(source, target).Run(dataSet);
  }
}
