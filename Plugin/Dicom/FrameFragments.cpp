// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/FrameFragments.h"

#include "Dicom/CodecError.h"
#include "Dicom/DataElement.h"
#include "Dicom/TransferSyntax.h"

#include <algorithm>
#include <cstdint>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t ELEMENT_HEADER = 12;
    constexpr std::size_t ITEM_HEADER = 8;
    constexpr std::string_view ITEM_TAG("\xfe\xff\x00\xe0", 4);

    // The first is the offset table. The structure was walked before (DataSetEditor): only the end
    // is looked for here.
    FrameFragments ReadItems(std::string_view element)
    {
      FrameFragments items;
      element.remove_prefix(std::min(ELEMENT_HEADER, element.size()));

      while (element.size() >= ITEM_HEADER && element.substr(0, ITEM_TAG.size()) == ITEM_TAG)
      {
        const std::size_t length = ReadLittle<std::uint32_t>(element, ITEM_TAG.size());
        element.remove_prefix(ITEM_HEADER);

        if (length > element.size())
        {
          throw CodecError("A fragment of Pixel Data is cut off");
        }

        items.push_back(element.substr(0, length));
        element.remove_prefix(length);
      }

      return items;
    }

    // SOI of JPEG and JPEG-LS (ITU-T T.81 table B.1), SOC and SIZ of JPEG 2000 (T.800 table A.2)
    bool IsBeginOfCodestream(std::string_view fragment)
    {
      return fragment.substr(0, 3) == "\xff\xd8\xff" || fragment.substr(0, 4) == "\xff\x4f\xff\x51";
    }

    // Without the offset table
    std::vector<FrameFragments> Group(const FrameFragments& items, bool isRle)
    {
      std::vector<FrameFragments> frames;

      for (std::size_t i = 1; i < items.size(); i++)
      {
        if (frames.empty() || isRle || IsBeginOfCodestream(items[i]))
        {
          frames.emplace_back();
        }

        frames.back().push_back(items[i]);
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

        if (ReadLittle<std::uint32_t>(offsetTable, 4 * i) != static_cast<std::uint64_t>(offset))
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
    const FrameFragments items = ReadItems(element);
    std::vector<FrameFragments> frames =
        Group(items, GetCodestreamKind(transferSyntax) == CodestreamKind::Rle);

    if (frames.size() != count)
    {
      throw CodecError("The fragments of Pixel Data make up " + std::to_string(frames.size()) +
                       " frames instead of " + std::to_string(count));
    }

    if (!items.empty() && !IsTrue(items.front(), frames))
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
