// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamReader.h"

#include "Dicom/CodecError.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    bool IsRestart(std::uint8_t marker)
    {
      return marker >= 0xd0 && marker <= 0xd7;
    }
  }

  std::string_view CodestreamReader::Take(std::size_t count)
  {
    if (count > rest_.size())
    {
      throw CodecError("The end of a frame is missing");
    }

    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::uint32_t CodestreamReader::Read(std::size_t size)
  {
    std::uint32_t value = 0;

    for (const char byte : Take(size))
    {
      value = value << 8 | static_cast<std::uint8_t>(byte);
    }

    return value;
  }

  std::uint8_t CodestreamReader::ReadMarker()
  {
    if (Read(1) != 0xff)
    {
      throw CodecError("A frame has something else where a marker has to be");
    }

    std::uint32_t marker = 0xff;

    while (marker == 0xff)
    {
      marker = Read(1);
    }

    return static_cast<std::uint8_t>(marker);
  }

  std::string_view CodestreamReader::ReadSegment(std::uint8_t marker)
  {
    // TEM, RST0 to RST7, SOI and EOI have none: T.81 table B.1. Those of JPEG 2000 are others, but
    // none of these is among them.
    if (marker <= 0x01 || IsRestart(marker) || marker == END_OF_IMAGE)
    {
      throw CodecError("A frame has something else where a marker has to be");
    }

    if (marker == START_OF_IMAGE)
    {
      throw CodecError("The end of a frame is missing");
    }

    const std::size_t length = Read(2);  // counts itself

    if (length < 2 || length - 2 > rest_.size())
    {
      throw CodecError("A marker segment of a frame is cut off");
    }

    return Take(length - 2);
  }

  void CodestreamReader::SkipCodedData(std::uint8_t firstMarker)
  {
    for (;;)
    {
      Take(std::min(rest_.find('\xff'), rest_.size()));

      if (rest_.size() < 2)
      {
        throw CodecError("The end of a frame is missing");
      }

      const auto next = static_cast<std::uint8_t>(rest_[1]);

      if (next >= firstMarker && next != 0xff && !IsRestart(next))
      {
        return;
      }

      Take(next == 0xff ? 1 : 2);
    }
  }

  void CodestreamReader::CheckEnd() const
  {
    if (!rest_.empty())
    {
      throw CodecError("A marker segment of a frame has another length than its parameters");
    }
  }
}
