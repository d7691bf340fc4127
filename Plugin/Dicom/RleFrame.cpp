// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/RleFrame.h"

#include "Dicom/CodecError.h"
#include "Dicom/ElementWriter.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t HEADER_SIZE = 64;

    std::size_t ReadInteger(std::string_view header, std::size_t index)
    {
      return boost::endian::load_little_u32(reinterpret_cast<const unsigned char*>(header.data()) +
                                            4 * index);
    }

    constexpr std::size_t LONGEST_RUN = 128;

    // Where the bytes of a segment begin in the first pixel
    std::size_t GetOffset(std::size_t segment, std::size_t bytes)
    {
      return segment + bytes - 1 - 2 * (segment % bytes);
    }

    void AppendLiterals(std::string& segment, std::string_view bytes)
    {
      for (std::size_t i = 0; i < bytes.size(); i += LONGEST_RUN)
      {
        const std::string_view run = bytes.substr(i, LONGEST_RUN);
        segment.push_back(static_cast<char>(run.size() - 1));
        segment.append(run);
      }
    }

    // Each row for itself (section G.3.1)
    void AppendRow(std::string& segment, std::string_view row)
    {
      std::size_t literals = 0;

      while (literals < row.size())
      {
        const std::string_view rest = row.substr(literals, LONGEST_RUN);
        const std::size_t run = std::min(rest.find_first_not_of(rest[0]), rest.size());

        // Literals that are under way take two more bytes for no more than a run would
        if (run < (literals == 0 ? 2 : 3))
        {
          literals += run;
          continue;
        }

        AppendLiterals(segment, row.substr(0, literals));
        segment.push_back(static_cast<char>(1 - static_cast<int>(run)));
        segment.push_back(rest[0]);
        row.remove_prefix(literals + run);
        literals = 0;
      }

      AppendLiterals(segment, row);
    }

    // To every "step"th byte from "position" on. CutRleSegment has checked the segment.
    void DecodeSegment(std::string_view segment, std::string& target, std::size_t position,
                       std::size_t step)
    {
      for (std::size_t next = 0; next < segment.size();)
      {
        const auto control = static_cast<std::int8_t>(segment[next]);
        const bool isRun = control < 0;
        const std::size_t count =
            control == -128 ? 0 : static_cast<std::size_t>(1 + std::abs(control));
        next++;

        for (std::size_t i = 0; i < count; i++)
        {
          target[position] = segment[isRun ? next : next + i];
          position += step;
        }

        next += isRun ? std::min<std::size_t>(count, 1) : count;
      }
    }
  }


  std::string EncodeRleFrame(std::string_view frame, std::size_t columns, std::size_t samples,
                             std::size_t bytes)
  {
    const std::size_t step = samples * bytes;
    std::vector<std::string> segments(step);
    std::string row(columns, '\0');

    for (std::size_t begin = 0; begin < frame.size(); begin += columns * step)
    {
      for (std::size_t i = 0; i < step; i++)
      {
        for (std::size_t x = 0; x < columns; x++)
        {
          row[x] = frame[begin + GetOffset(i, bytes) + x * step];
        }

        AppendRow(segments[i], row);
      }
    }

    return JoinRleSegments({segments.begin(), segments.end()});
  }


  std::string DecodeRleFrame(std::string_view frame, std::size_t pixels, std::size_t samples,
                             std::size_t bytes)
  {
    const std::size_t step = samples * bytes;
    const RleSegments segments = SplitRleFrame(frame, step, pixels);
    std::string decoded(step * pixels, '\0');

    for (std::size_t i = 0; i < step; i++)
    {
      DecodeSegment(segments[i], decoded, GetOffset(i, bytes), step);
    }

    return decoded;
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
