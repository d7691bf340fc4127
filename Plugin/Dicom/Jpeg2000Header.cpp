// SPDX-License-Identifier: GPL-3.0-or-later
// JPEG 2000: ITU-T T.800 annex A
#include "Dicom/CodecError.h"
#include "Dicom/CodestreamReader.h"

#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // The second bytes of markers: ITU-T T.800 table A.2
    constexpr std::uint8_t IMAGE_SIZE = 0x51;
    constexpr std::uint8_t CODING_STYLE = 0x52;
    constexpr std::uint8_t START_OF_TILE = 0x90;
    constexpr std::uint8_t START_OF_DATA = 0x93;

    // The coding style: T.800 table A.15
    void ReadCodingStyle(std::string_view segment, CodestreamHeader& header)
    {
      CodestreamReader reader(segment);
      reader.Take(4);  // Scod, progression, layers
      header.isColorTransformed = reader.Read(1) == 1;
      reader.Take(4);  // decomposition levels, code-block size and style
      header.isLossless = reader.Read(1) == 1;
    }

    // T.800 section B.3
    std::uint64_t CountTiles(std::uint32_t tilesBegin, std::uint32_t begin, std::uint32_t end,
                             std::uint32_t size)
    {
      if (begin >= end || size == 0 || tilesBegin > begin ||
          std::uint64_t(tilesBegin) + size <= begin)
      {
        throw CodecError("The image size of a JPEG 2000 frame makes no sense");
      }

      return (std::uint64_t(end) - tilesBegin + size - 1) / size;
    }

    // Image and tile size: T.800 table A.9. Returns the number of tiles.
    std::size_t ReadImageSize(std::string_view segment, CodestreamHeader& header)
    {
      CodestreamReader reader(segment);
      reader.Take(2);  // capabilities
      const std::uint32_t right = reader.Read(4);
      const std::uint32_t bottom = reader.Read(4);
      const std::uint32_t left = reader.Read(4);
      const std::uint32_t top = reader.Read(4);
      const std::uint32_t tileWidth = reader.Read(4);
      const std::uint32_t tileHeight = reader.Read(4);
      const std::uint32_t tilesLeft = reader.Read(4);
      const std::uint32_t tilesTop = reader.Read(4);
      header.components = reader.Read(2);

      constexpr std::uint64_t MAXIMUM_TILES = 65535;
      const std::uint64_t across = CountTiles(tilesLeft, left, right, tileWidth);
      const std::uint64_t down = CountTiles(tilesTop, top, bottom, tileHeight);

      if (across > MAXIMUM_TILES || across * down > MAXIMUM_TILES)
      {
        throw CodecError("A JPEG 2000 frame has too many tiles");
      }

      header.width = right - left;
      header.height = bottom - top;

      for (unsigned int i = 0; i < header.components; i++)
      {
        const unsigned int depth = reader.Read(1);

        if (i > 0 && ((depth & 0x7f) + 1 != header.precision || depth >> 7 != header.isSigned))
        {
          throw NotCovered("The components of a JPEG 2000 frame differ");
        }

        if (reader.Read(2) != 0x0101)
        {
          throw NotCovered("The components of a JPEG 2000 frame are subsampled");
        }

        header.precision = (depth & 0x7f) + 1;
        header.isSigned = depth >> 7 != 0;
      }

      return across * down;
    }

    // What is there of a tile
    struct TileParts
    {
      unsigned int count = 0;
      unsigned int stated = 0;  // how many there must be; 0: no part says so
      std::size_t bytes = 0;    // of packets, in all of them
    };

    // Behind the segment of SOT: T.800 section A.4.2
    void SkipTilePart(CodestreamReader& reader, std::string_view segment,
                      std::vector<TileParts>& tiles)
    {
      CodestreamReader parameters(segment);
      const std::size_t index = parameters.Read(2);

      if (index >= tiles.size())
      {
        throw CodecError("A JPEG 2000 frame has more tiles than its size says");
      }

      TileParts& tile = tiles[index];
      const std::size_t length = parameters.Read(4);
      const std::size_t read = segment.size() + 4;

      if (parameters.Read(1) != tile.count++)
      {
        throw CodecError("A part of a tile of a JPEG 2000 frame is missing");
      }

      const unsigned int stated = parameters.Read(1);
      tile.stated = stated == 0 ? tile.stated : stated;

      const std::size_t begin = reader.GetRest().size();

      for (std::uint8_t marker = reader.ReadMarker(); marker != START_OF_DATA;
           marker = reader.ReadMarker())
      {
        reader.ReadSegment(marker);
      }

      const std::size_t data = reader.GetRest().size();
      const std::size_t header = read + begin - data;

      if (length == 0)
      {
        // Up to the end of the codestream. Markers of packets (SOP and EPH) may be in between.
        reader.SkipCodedData(END_OF_IMAGE);
      }
      else if (length < header)
      {
        throw CodecError("A tile of a JPEG 2000 frame is cut off");
      }
      else
      {
        reader.Take(length - header);
      }

      tile.bytes += data - reader.GetRest().size();
    }
  }

  CodestreamHeader ReadJpeg2000Header(CodestreamReader& reader)
  {
    CodestreamHeader header;
    std::vector<TileParts> tiles;

    const auto visit = [&](std::uint8_t marker, std::string_view segment)
    {
      if (marker == IMAGE_SIZE)
      {
        if (!tiles.empty())
        {
          throw CodecError("A JPEG 2000 frame has two image sizes");
        }

        tiles.assign(ReadImageSize(segment, header), TileParts());
      }
      else if (marker == CODING_STYLE)
      {
        ReadCodingStyle(segment, header);
      }
      else if (marker == START_OF_TILE)
      {
        SkipTilePart(reader, segment, tiles);
      }
    };

    reader.VisitSegments(START_OF_TILE, visit);

    // OpenJPEG leaves grey what is missing, without an error. The headers of packets may be
    // elsewhere (PPM and PPT, T.800 section A.7.4): an empty tile of such a frame is declined as
    // well.
    for (const TileParts& tile : tiles)
    {
      if (tile.bytes == 0 || (tile.stated != 0 && tile.stated != tile.count))
      {
        throw CodecError("A tile of a JPEG 2000 frame is missing, or a part of it");
      }
    }

    return header;
  }
}
