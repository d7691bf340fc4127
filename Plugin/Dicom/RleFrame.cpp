// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/RleFrame.h"

#include "Dicom/CodecError.h"
#include "Dicom/ElementWriter.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t HEADER_SIZE = 64;

    constexpr std::size_t LONGEST_RUN = 128;
    constexpr std::int8_t NO_OPERATION = -128;

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

    // Calls visit(bytes, count) for each literal, and for each run of one byte (section G.3.2).
    // Returns the part of the segment that decodes to exactly "size" bytes; throws CodecError if
    // there is none, before anything beyond "size" is visited.
    template <typename Visit>
    std::string_view ReadSegment(std::string_view segment, std::size_t size, Visit visit)
    {
      std::size_t decoded = 0;
      std::size_t position = 0;

      while (decoded < size && position < segment.size())
      {
        const auto control = static_cast<std::int8_t>(segment[position]);
        const std::size_t count =
            control == NO_OPERATION ? 0 : static_cast<std::size_t>(1 + std::abs(control));
        const std::size_t length = control >= 0 ? count : std::min<std::size_t>(count, 1);
        const std::string_view bytes = segment.substr(position + 1, length);
        position += 1 + length;
        decoded += count;

        if (decoded <= size && bytes.size() == length)
        {
          visit(bytes, count);
        }
      }

      if (decoded != size || position > segment.size())
      {
        throw CodecError("A segment of an RLE frame has another length than its pixels");
      }

      return segment.substr(0, position);
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
      std::size_t position = GetOffset(i, bytes);

      ReadSegment(segments[i], pixels,
                  [&](std::string_view run, std::size_t count)
                  {
                    for (std::size_t k = 0; k < count; k++)
                    {
                      decoded[position] = run[run.size() == 1 ? 0 : k];
                      position += step;
                    }
                  });
    }

    return decoded;
  }

  RleSegments SplitRleFrame(std::string_view frame, std::size_t count, std::size_t size)
  {
    if (frame.size() < HEADER_SIZE || ReadLittle<std::uint32_t>(frame) != count ||
        count >= HEADER_SIZE / 4)
    {
      throw CodecError("The header of an RLE frame does not fit its image");
    }

    RleSegments segments;
    std::size_t previous = HEADER_SIZE;

    for (std::size_t i = 0; i < count; i++)
    {
      const std::size_t begin = ReadLittle<std::uint32_t>(frame, 4 * i + 4);
      const std::size_t end =
          i + 1 < count ? ReadLittle<std::uint32_t>(frame, 4 * i + 8) : frame.size();

      if (begin < previous || end < begin || end > frame.size())
      {
        throw CodecError("The offsets of an RLE frame make no sense");
      }

      segments.push_back(ReadSegment(frame.substr(begin, end - begin), size,
                                     [](std::string_view, std::size_t) {}));
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
}
