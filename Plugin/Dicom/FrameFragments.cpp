// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/FrameFragments.h"

#include "Dicom/CodecError.h"

#include <cstdint>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t ELEMENT_HEADER = 12;
    constexpr std::size_t ITEM_HEADER = 8;
    constexpr std::uint32_t TAG_ITEM = 0xfffee000;

    struct Fragments
    {
      std::string_view offsetTable;
      std::vector<std::string_view> values;
    };

    std::uint32_t Read16(std::string_view bytes, std::size_t position)
    {
      return static_cast<std::uint8_t>(bytes[position]) |
             static_cast<std::uint32_t>(static_cast<std::uint8_t>(bytes[position + 1])) << 8;
    }

    std::uint32_t Read32(std::string_view bytes, std::size_t position)
    {
      return Read16(bytes, position) | Read16(bytes, position + 2) << 16;
    }

    // The structure was walked before (DataSetEditor): only the end is looked for here
    Fragments ReadFragments(std::string_view element)
    {
      Fragments fragments;
      bool isOffsetTable = true;
      std::size_t position = ELEMENT_HEADER;

      while (position + ITEM_HEADER <= element.size())
      {
        const std::uint32_t tag = Read16(element, position) << 16 | Read16(element, position + 2);
        const std::size_t length = Read32(element, position + 4);
        position += ITEM_HEADER;

        if (tag != TAG_ITEM)
        {
          break;
        }

        if (length > element.size() - position)
        {
          throw CodecError("A fragment of Pixel Data is cut off");
        }

        const std::string_view value = element.substr(position, length);
        position += length;

        if (isOffsetTable)
        {
          fragments.offsetTable = value;
          isOffsetTable = false;
        }
        else
        {
          fragments.values.push_back(value);
        }
      }

      return fragments;
    }

    // Empty if the table does not name the fragments with which "count" frames begin
    std::vector<FrameFragments> FollowOffsetTable(const Fragments& fragments, std::size_t count)
    {
      if (fragments.offsetTable.size() != 4 * count)
      {
        return {};
      }

      std::vector<FrameFragments> frames;
      std::uint64_t offset = 0;

      for (const std::string_view fragment : fragments.values)
      {
        if (frames.size() < count && Read32(fragments.offsetTable, 4 * frames.size()) == offset)
        {
          frames.emplace_back();
        }

        if (frames.empty())
        {
          return {};
        }

        frames.back().push_back(fragment);
        offset += ITEM_HEADER + fragment.size();
      }

      return frames.size() == count ? frames : std::vector<FrameFragments>();
    }

    // SOI of JPEG and JPEG-LS (ITU-T T.81 table B.1), SOC and SIZ of JPEG 2000 (T.800 table A.2)
    bool IsBeginOfCodestream(std::string_view fragment)
    {
      return fragment.substr(0, 3) == "\xff\xd8\xff" || fragment.substr(0, 4) == "\xff\x4f\xff\x51";
    }

    std::vector<FrameFragments> FollowMarkers(const Fragments& fragments)
    {
      std::vector<FrameFragments> frames;

      for (const std::string_view fragment : fragments.values)
      {
        if (frames.empty() || IsBeginOfCodestream(fragment))
        {
          frames.emplace_back();
        }

        frames.back().push_back(fragment);
      }

      return frames;
    }
  }


  std::vector<FrameFragments> FindFrames(std::string_view element, std::size_t count)
  {
    const Fragments fragments = ReadFragments(element);

    if (count == 1 && !fragments.values.empty())
    {
      return {fragments.values};
    }

    std::vector<FrameFragments> frames;

    if (fragments.values.size() == count)
    {
      for (const std::string_view fragment : fragments.values)
      {
        frames.push_back({fragment});
      }

      return frames;
    }

    frames = FollowOffsetTable(fragments, count);

    if (frames.size() != count)
    {
      frames = FollowMarkers(fragments);
    }

    if (frames.size() != count)
    {
      throw CodecError("The fragments of Pixel Data don't make up Number of Frames");
    }

    return frames;
  }

}
