// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamHeader.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamReader.h"
#include "Dicom/FrameFragments.h"

#include <algorithm>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // The second bytes of markers: ITU-T T.81 table B.1, T.87 table C.1, T.800 table A.2
    constexpr std::uint8_t START_OF_CODESTREAM = 0x4f;
    constexpr std::uint8_t IMAGE_SIZE = 0x51;
    constexpr std::uint8_t CODING_STYLE = 0x52;
    constexpr std::uint8_t START_OF_TILE = 0x90;
    constexpr std::uint8_t START_OF_DATA = 0x93;
    constexpr std::uint8_t FRAME_LOSSLESS = 0xc3;
    constexpr std::uint8_t START_OF_SCAN = 0xda;
    constexpr std::uint8_t RESTART_INTERVAL = 0xdd;
    constexpr std::uint8_t APP0 = 0xe0;
    constexpr std::uint8_t APP8 = 0xe8;
    constexpr std::uint8_t APP14 = 0xee;
    constexpr std::uint8_t FRAME_JPEG_LS = 0xf7;
    constexpr std::uint8_t JPEG_LS_PARAMETERS = 0xf8;


    // A frame that its standard allows, and of which DCMTK 3.6.7, GDCM 3.0.21 or both give other
    // samples without a word: seen by experiment (test_decoders.py). What else a standard allows,
    // they decode, or fail.
    void DeclineIf(bool isMisread, const char* what)
    {
      if (isMisread)
      {
        throw NotCovered(std::string(what) + ", which libraries misread");
      }
    }


    // Calls "visit" for each marker segment, and "skipData" with the parameters of each
    // "dataMarker", scan or tile. Reads up to the end of the codestream.
    template <typename Visit, typename SkipData>
    void VisitSegments(CodestreamReader& reader, std::uint8_t dataMarker, Visit visit,
                       SkipData skipData)
    {
      bool hasData = false;

      for (std::uint8_t marker = reader.ReadMarker(); marker != END_OF_IMAGE || !hasData;
           marker = reader.ReadMarker())
      {
        const std::string_view segment = reader.ReadSegment(marker);

        visit(marker, segment);

        if (marker == dataMarker)
        {
          hasData = true;
          skipData(segment);
        }
      }
    }


    bool IsStartOfFrame(std::uint8_t marker)
    {
      return marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc;
    }


    // All that a JPEG stream says of its colours
    struct ColorClaims
    {
      bool isRgb = false;
      bool isYcc = false;
    };


    // Of another version libjpeg warns, and GDCM's assertions end the process at a warning
    void ReadJfif(std::string_view segment, ColorClaims& claims)
    {
      if (segment.size() < 14 || segment.substr(0, 5) != std::string_view("JFIF\0", 5))
      {
        return;
      }

      if (segment[5] != 1)
      {
        throw NotCovered("The JFIF version of a frame is unknown");
      }

      claims.isYcc = true;
    }


    void ReadAdobe(std::string_view segment, ColorClaims& claims)
    {
      if (segment.size() < 12 || segment.substr(0, 5) != "Adobe")
      {
        return;
      }

      if (segment[11] != 0 && segment[11] != 1)
      {
        throw NotCovered("The colour transform of a frame is unknown");
      }

      (segment[11] == 0 ? claims.isRgb : claims.isYcc) = true;
    }


    CodestreamHeader::Colors GetColors(const CodestreamHeader& header, const ColorClaims& claims)
    {
      if (header.components != 3)
      {
        return CodestreamHeader::Colors::Unspecified;
      }

      if (header.isLossless)
      {
        return claims.isYcc ? CodestreamHeader::Colors::Ycc : CodestreamHeader::Colors::Unspecified;
      }

      if (claims.isRgb && claims.isYcc)
      {
        throw NotCovered("A frame says both that it is RGB and that it is YCbCr");
      }

      return claims.isRgb ? CodestreamHeader::Colors::Rgb : CodestreamHeader::Colors::Ycc;
    }


    // T.81 section B.2.2: what follows is counted in it
    void CheckEnd(const CodestreamReader& segment)
    {
      if (!segment.GetRest().empty())
      {
        throw CodecError("A marker segment of a frame has another length than its parameters");
      }
    }


    struct FrameComponents
    {
      std::string identifiers;
      unsigned int lines = 1;  // the largest vertical sampling factor
    };


    FrameComponents ReadFrameHeader(std::string_view segment, CodestreamHeader& header)
    {
      if (header.components > 0)
      {
        throw CodecError("A frame has two headers");
      }

      CodestreamReader reader(segment);
      FrameComponents components;
      header.precision = reader.Read(1);
      header.height = reader.Read(2);
      header.width = reader.Read(2);
      header.components = reader.Read(1);

      for (unsigned int i = 0; i < header.components; i++)
      {
        components.identifiers.push_back(static_cast<char>(reader.Read(1)));
        components.lines = std::max(components.lines, reader.Read(1) & 15);
        reader.Take(1);  // quantization table
      }

      CheckEnd(reader);
      return components;
    }


    CodestreamHeader ReadJpeg(CodestreamReader& reader)
    {
      CodestreamHeader header;
      FrameComponents components;
      ColorClaims claims;
      bool hasRestarts = false;

      const auto visit = [&](std::uint8_t marker, std::string_view segment)
      {
        if (marker == APP0)
        {
          ReadJfif(segment, claims);
        }
        else if (marker == APP14)
        {
          ReadAdobe(segment, claims);
        }
        else if (marker == RESTART_INTERVAL)
        {
          hasRestarts |= CodestreamReader(segment).Read(2) > 0;
        }
        else if (IsStartOfFrame(marker) || marker == FRAME_JPEG_LS)
        {
          if (marker > FRAME_LOSSLESS)
          {
            throw NotCovered("The coding process of a JPEG frame is not covered");
          }

          components = ReadFrameHeader(segment, header);
          header.isLossless = marker == FRAME_LOSSLESS;
        }
      };

      VisitSegments(reader, START_OF_SCAN, visit,
                    [&](std::string_view) { reader.SkipCodedData(0x80); });

      // ITU-T T.81 section H.1.1. Both begin anew at another line: libjpeg counts groups of lines.
      DeclineIf(header.isLossless && hasRestarts && components.lines > 1,
                "lossless JPEG with restart intervals and a vertical sampling factor");
      claims.isRgb |= components.identifiers == "RGB";
      header.colors = GetColors(header, claims);
      return header;
    }


    // T.87 sections C.2.3 and C.2.4.1.2. Returns the largest error. Of a mapping table and a point
    // transform, DCMTK takes no notice; GDCM fails.
    unsigned int ReadJpegLsScan(std::string_view segment)
    {
      CodestreamReader scan(segment);

      for (unsigned int count = scan.Read(1); count > 0; count--)
      {
        scan.Take(1);
        DeclineIf(scan.Read(1) > 0, "JPEG-LS with a mapping table");
      }

      const unsigned int error = scan.Read(1);
      scan.Take(1);  // interleaving
      DeclineIf(scan.Read(1) > 0, "JPEG-LS with a point transform");
      CheckEnd(scan);
      return error;
    }


    // Preset coding parameters: T.87 section C.2.4.1.1. Zero stands for the default.
    struct JpegLsParameters
    {
      unsigned int maximum = 0;
      unsigned int reset = 0;

      void Read(std::string_view segment)
      {
        CodestreamReader reader(segment);

        if (reader.Read(1) == 1)
        {
          maximum = reader.Read(2);
          reader.Take(6);  // thresholds
          reset = reader.Read(2);
        }
      }

      void Check(unsigned int precision) const
      {
        // CharLS (1 in DCMTK, 2 in GDCM) decodes as if all bits were in use
        DeclineIf(maximum > 0 && maximum + 1 != 1U << precision % 32,
                  "JPEG-LS with another largest sample than its bits allow for");

        // Where a run ends, CharLS keeps the low 8 bits of it. It decodes no other than 64 with
        // interleaved samples.
        DeclineIf(reset > 0 && reset != 64, "JPEG-LS with another RESET than 64");
      }
    };


    // Hewlett-Packard's. CharLS undoes it, decoders of T.87 do not.
    bool HasColorTransform(std::string_view segment)
    {
      return segment.size() > 4 && segment.substr(0, 4) == "mrfx" && segment[4] != 0;
    }


    CodestreamHeader ReadJpegLs(CodestreamReader& reader)
    {
      CodestreamHeader header;
      JpegLsParameters parameters;
      unsigned int error = 0;

      const auto visit = [&](std::uint8_t marker, std::string_view segment)
      {
        if (marker == FRAME_JPEG_LS)
        {
          ReadFrameHeader(segment, header);
        }
        else if (marker == START_OF_SCAN)
        {
          error = std::max(error, ReadJpegLsScan(segment));
          parameters.Check(header.precision);
        }
        else if (marker == JPEG_LS_PARAMETERS)
        {
          parameters.Read(segment);
        }
        else if (marker == APP8)
        {
          DeclineIf(HasColorTransform(segment), "JPEG-LS with a colour transform of its own");
        }
      };

      VisitSegments(reader, START_OF_SCAN, visit,
                    [&](std::string_view) { reader.SkipCodedData(0x80); });

      // DCMTK's CharLS writes and reads with other thresholds than T.87 section C.2.4.1.1.1.
      // Nothing tells who wrote a frame.
      DeclineIf(header.precision < 8, "JPEG-LS of fewer than 8 bits");
      header.isLossless = error == 0;
      return header;
    }


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


    // What is there of a tile of JPEG 2000
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


    CodestreamHeader ReadJpeg2000(CodestreamReader& reader)
    {
      CodestreamHeader header;
      std::vector<TileParts> tiles;

      const auto visit = [&](std::uint8_t marker, std::string_view segment)
      {
        if (marker == IMAGE_SIZE)
        {
          tiles.assign(ReadImageSize(segment, header), TileParts());
        }
        else if (marker == CODING_STYLE)
        {
          ReadCodingStyle(segment, header);
        }
      };

      VisitSegments(reader, START_OF_TILE, visit,
                    [&](std::string_view segment) { SkipTilePart(reader, segment, tiles); });

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


    // The codestream of a JP2 file (T.800 annex I), which some put where it does not belong
    std::string_view FindCodestream(std::string_view frame)
    {
      if (frame.size() < 12 || frame.substr(4, 4) != "jP  ")
      {
        return frame;
      }

      const std::size_t begin = frame.find("\xff\x4f\xff\x51");

      if (begin == std::string_view::npos)
      {
        throw CodecError("A frame is a JP2 file without a codestream");
      }

      if (frame.substr(0, begin).find("pclr") != std::string_view::npos)
      {
        throw NotCovered("A frame is a JP2 file with a palette");
      }

      return frame.substr(begin);
    }


    void CheckBegin(CodestreamReader& reader, std::uint8_t marker, const char* error)
    {
      if (reader.Read(2) != (0xff00U | marker))
      {
        throw CodecError(error);
      }
    }


    CodestreamHeader Read(CodestreamKind kind, CodestreamReader& reader)
    {
      switch (kind)
      {
        case CodestreamKind::Jpeg:
          CheckBegin(reader, START_OF_IMAGE, "A frame is no JPEG stream");
          return ReadJpeg(reader);

        case CodestreamKind::JpegLs:
          CheckBegin(reader, START_OF_IMAGE, "A frame is no JPEG-LS stream");
          return ReadJpegLs(reader);

        case CodestreamKind::Jpeg2000:
          CheckBegin(reader, START_OF_CODESTREAM, "A frame is no JPEG 2000 codestream");
          return ReadJpeg2000(reader);

        default:
          throw NotCovered("Frames of this transfer syntax have no header that is known");
      }
    }
  }


  CodestreamHeader ReadCodestreamHeader(CodestreamKind kind, std::string_view frame)
  {
    CodestreamReader reader(kind == CodestreamKind::Jpeg2000 ? FindCodestream(frame) : frame);
    const CodestreamHeader header = Read(kind, reader);

    // GDCM looks for the last byte 0xd9 of a frame, wherever that is
    if (!IsFragmentPadding(reader.GetRest()) || reader.GetRest() == "\xd9")
    {
      throw CodecError("Something follows the end of a frame");
    }

    return header;
  }
}
