// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamEnd.h"

#include "Dicom/CodecError.h"

#include <cstdint>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint8_t START_OF_IMAGE = 0xd8;
    constexpr std::uint8_t END_OF_IMAGE = 0xd9;  // EOC of JPEG 2000, too
    constexpr std::uint8_t START_OF_SCAN = 0xda;
    constexpr std::uint8_t START_OF_CODESTREAM = 0x4f;
    constexpr std::uint8_t START_OF_TILE = 0x90;

    class Position
    {
    public:
      explicit Position(std::string_view bytes) : bytes_(bytes)
      {
      }

      std::size_t Get() const
      {
        return position_;
      }

      std::size_t ReadInteger(std::size_t size)
      {
        std::size_t value = 0;

        for (std::size_t i = 0; i < size; i++)
        {
          value = value << 8 | static_cast<std::uint8_t>(bytes_[Advance(1)]);
        }

        return value;
      }

      // The second byte of a marker; fill bytes may stand before it: T.81 section B.1.1.2
      std::uint8_t ReadMarker()
      {
        if (ReadInteger(1) != 0xff)
        {
          throw CodecError("A frame has something else where a marker has to be");
        }

        std::size_t marker = 0xff;

        while (marker == 0xff)
        {
          marker = ReadInteger(1);
        }

        return static_cast<std::uint8_t>(marker);
      }

      void SkipSegment()
      {
        const std::size_t length = ReadInteger(2);  // counts itself

        if (length < 2)
        {
          throw CodecError("A marker segment of a frame is cut off");
        }

        Advance(length - 2);
      }

      // To the next marker that does not belong to the coded data. What follows 0xff there is a
      // stuffed zero (T.81), or less than 0x80 (T.87 annex A.1) or 0x90 (T.800 annex B.10.1).
      void SkipCodedData(std::uint8_t firstMarker)
      {
        for (;;)
        {
          const std::size_t found = bytes_.find('\xff', position_);

          if (found == std::string_view::npos || found + 1 == bytes_.size())
          {
            throw CodecError("The end of a frame is missing");
          }

          const auto next = static_cast<std::uint8_t>(bytes_[found + 1]);
          const bool isRestart = next >= 0xd0 && next <= 0xd7;
          position_ = found + (next == 0xff ? 1 : 2);

          if (next >= firstMarker && next != 0xff && !isRestart)
          {
            position_ = found;
            return;
          }
        }
      }

      // Returns where it was
      std::size_t Advance(std::size_t count)
      {
        if (count > bytes_.size() - position_)
        {
          throw CodecError("The end of a frame is missing");
        }

        position_ += count;
        return position_ - count;
      }

    private:
      const std::string_view bytes_;
      std::size_t position_ = 0;
    };

    // TEM, and RST0 to RST7: T.81 table B.1
    bool IsAlone(std::uint8_t marker)
    {
      return marker == 0x01 || (marker >= 0xd0 && marker <= 0xd7);
    }

    // Behind the marker SOT; T.800 section A.4.2
    void SkipTilePart(Position& position)
    {
      const std::size_t begin = position.Get() - 2;
      position.Advance(4);  // the length of the segment, the index of the tile
      const std::size_t length = position.ReadInteger(4);

      if (length == 0)
      {
        // Up to the end of the codestream. Markers of packets (SOP and EPH) may be in between.
        position.SkipCodedData(END_OF_IMAGE);
      }
      else if (length < position.Get() - begin)
      {
        throw CodecError("A tile of a JPEG 2000 frame is cut off");
      }
      else
      {
        position.Advance(length - (position.Get() - begin));
      }
    }
  }


  std::size_t MeasureJpeg(std::string_view bytes)
  {
    Position position(bytes);

    if (position.ReadMarker() != START_OF_IMAGE)
    {
      throw CodecError("A frame is no JPEG stream");
    }

    for (;;)
    {
      const std::uint8_t marker = position.ReadMarker();

      if (marker == END_OF_IMAGE)
      {
        return position.Get();
      }

      if (marker == START_OF_IMAGE)
      {
        throw CodecError("The end of a frame is missing");
      }

      if (!IsAlone(marker))
      {
        position.SkipSegment();
      }

      if (marker == START_OF_SCAN)
      {
        position.SkipCodedData(0x80);
      }
    }
  }


  std::size_t MeasureJpeg2000(std::string_view bytes)
  {
    Position position(bytes);

    if (position.ReadMarker() != START_OF_CODESTREAM)
    {
      throw CodecError("A frame is no JPEG 2000 codestream");
    }

    for (;;)
    {
      const std::uint8_t marker = position.ReadMarker();

      if (marker == END_OF_IMAGE)
      {
        return position.Get();
      }

      if (marker == START_OF_TILE)
      {
        SkipTilePart(position);
      }
      else
      {
        position.SkipSegment();
      }
    }
  }
}
