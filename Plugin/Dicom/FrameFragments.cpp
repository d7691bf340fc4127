// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/FrameFragments.h"

#include "Dicom/CodecError.h"
#include "Dicom/TransferSyntax.h"

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

    // SOI of JPEG and JPEG-LS (ITU-T T.81 table B.1), SOC and SIZ of JPEG 2000 (T.800 table A.2),
    // and the JP2 file around it that some put where it does not belong (annex I)
    bool IsBeginOfCodestream(std::string_view fragment)
    {
      return fragment.substr(0, 3) == "\xff\xd8\xff" ||
             fragment.substr(0, 4) == "\xff\x4f\xff\x51" ||
             (fragment.size() >= 8 && fragment.substr(4, 4) == "jP  ");
    }

    std::vector<FrameFragments> Group(const std::vector<std::string_view>& fragments, bool isRle)
    {
      std::vector<FrameFragments> frames;

      for (const std::string_view fragment : fragments)
      {
        if (frames.empty() || isRle || IsBeginOfCodestream(fragment))
        {
          frames.emplace_back();
        }

        frames.back().push_back(fragment);
      }

      return frames;
    }

    bool IsTrue(std::string_view offsetTable, const std::vector<FrameFragments>& frames)
    {
      if (offsetTable.size() != 4 * frames.size())
      {
        return offsetTable.empty();
      }

      for (std::size_t i = 0; i < frames.size(); i++)
      {
        const auto offset = frames[i].front().data() - frames.front().front().data();

        if (Read32(offsetTable, 4 * i) != static_cast<std::uint64_t>(offset))
        {
          return false;
        }
      }

      return true;
    }
  }


  std::vector<FrameFragments> FindFrames(std::string_view element, std::string_view transferSyntax,
                                         std::size_t count)
  {
    const Fragments fragments = ReadFragments(element);
    std::vector<FrameFragments> frames =
        Group(fragments.values, GetCodestreamKind(transferSyntax) == CodestreamKind::Rle);

    if (frames.size() != count)
    {
      throw CodecError("The fragments of Pixel Data make up " + std::to_string(frames.size()) +
                       " frames instead of " + std::to_string(count));
    }

    if (!IsTrue(fragments.offsetTable, frames))
    {
      throw CodecError("The Basic Offset Table contradicts the fragments of Pixel Data");
    }

    return frames;
  }


  std::string_view Join(const FrameFragments& fragments, std::string& storage)
  {
    if (fragments.size() == 1)
    {
      return fragments.front();
    }

    storage.clear();

    for (const std::string_view fragment : fragments)
    {
      storage.append(fragment);
    }

    return storage;
  }


  bool IsFragmentPadding(std::string_view rest) noexcept
  {
    constexpr std::string_view FILL("\0\xff", 2);
    return rest.size() <= 1 || rest.find_first_not_of(FILL) == std::string_view::npos;
  }
}
