// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/RleFrame.h"

#include "Dicom/CodecError.h"
#include "Dicom/ElementWriter.h"

#include <cstdint>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t HEADER_SIZE = 64;

    std::size_t ReadInteger(std::string_view header, std::size_t index)
    {
      std::size_t value = 0;

      for (std::size_t i = 0; i < 4; i++)
      {
        const auto byte = static_cast<std::uint8_t>(header[4 * index + i]);
        value |= static_cast<std::size_t>(byte) << (8 * i);
      }

      return value;
    }
  }


  RleSegments SplitRleFrame(std::string_view frame, std::size_t count, std::size_t size)
  {
    if (frame.size() < HEADER_SIZE || ReadInteger(frame, 0) != count || count >= HEADER_SIZE / 4)
    {
      throw CodecError("The header of an RLE frame does not fit its image");
    }

    RleSegments segments;
    std::size_t previous = HEADER_SIZE;

    for (std::size_t i = 0; i < count; i++)
    {
      const std::size_t begin = ReadInteger(frame, i + 1);
      const std::size_t end = i + 1 < count ? ReadInteger(frame, i + 2) : frame.size();

      if (begin < previous || end < begin || end > frame.size())
      {
        throw CodecError("The offsets of an RLE frame make no sense");
      }

      segments.push_back(CutRleSegment(frame.substr(begin, end - begin), size));
      previous = end;
    }

    return segments;
  }


  std::string JoinRleSegments(const RleSegments& segments)
  {
    std::string header;
    std::string body;
    AppendInteger(header, segments.size(), 4);

    for (const std::string_view segment : segments)
    {
      AppendInteger(header, HEADER_SIZE + body.size(), 4);
      body.append(segment);
      body.append(segment.size() % 2, '\0');
    }

    header.resize(HEADER_SIZE, '\0');
    return header + body;
  }


  // Section G.3.2
  std::string_view CutRleSegment(std::string_view segment, std::size_t size)
  {
    std::size_t decoded = 0;
    std::size_t position = 0;

    while (decoded < size && position < segment.size())
    {
      const auto control = static_cast<std::int8_t>(segment[position]);
      position++;

      if (control >= 0)
      {
        position += static_cast<std::size_t>(control) + 1;
        decoded += static_cast<std::size_t>(control) + 1;
      }
      else if (control != -128)
      {
        position++;
        decoded += static_cast<std::size_t>(1 - control);
      }
    }

    if (decoded != size || position > segment.size())
    {
      throw CodecError("A segment of an RLE frame has another length than its pixels");
    }

    return segment.substr(0, position);
  }
}
