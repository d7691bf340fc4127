// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamHeader.h"

#include "Dicom/CodecError.h"


namespace OrthancPerf
{
  namespace
  {
    constexpr unsigned int MARKER_START_OF_IMAGE = 0xffd8;
    constexpr unsigned int MARKER_START_OF_SCAN = 0xffda;
    constexpr unsigned int MARKER_APP0 = 0xffe0;
    constexpr unsigned int MARKER_APP14 = 0xffee;
    constexpr unsigned int MARKER_JPEG_LS_FRAME = 0xfff7;

    constexpr unsigned int MARKER_SIZ = 0xff51;
    constexpr unsigned int MARKER_COD = 0xff52;
    constexpr unsigned int MARKER_START_OF_TILE = 0xff90;

    // Big endian, as in all of JPEG. Reading past the end is an error of the frame.
    class ByteReader
    {
    public:
      explicit ByteReader(std::string_view bytes) : bytes_(bytes)
      {
      }

      unsigned int Read8()
      {
        if (bytes_.empty())
        {
          throw CodecError("The header of a frame is cut off");
        }

        const auto byte = static_cast<std::uint8_t>(bytes_.front());
        bytes_.remove_prefix(1);
        return byte;
      }

      unsigned int Read16()
      {
        const unsigned int high = Read8();
        return high << 8 | Read8();
      }

      std::uint32_t Read32()
      {
        const std::uint32_t high = Read16();
        return high << 16 | Read16();
      }

      // The parameters of a marker segment, whose length counts itself
      std::string_view ReadSegment()
      {
        const std::size_t length = Read16();

        if (length < 2 || length - 2 > bytes_.size())
        {
          throw CodecError("A marker segment of a frame is cut off");
        }

        const std::string_view segment = bytes_.substr(0, length - 2);
        bytes_.remove_prefix(segment.size());
        return segment;
      }

    private:
      std::string_view bytes_;
    };

    // Not TEM, RST0 to RST7, SOI and EOI: T.81 table B.1. Those of JPEG 2000 are others, but none
    // of these is among them.
    bool HasSegment(unsigned int marker)
    {
      return marker > 0xff01 && (marker < 0xffd0 || marker > 0xffd9);
    }

    // Calls "visit" for each marker segment up to the scan, or the tile. Fill bytes in front of a
    // marker (T.81 section B.1.1.2) are allowed, anything else is not.
    template <typename Visit>
    void VisitSegments(ByteReader& reader, unsigned int last, Visit visit)
    {
      for (;;)
      {
        unsigned int marker = reader.Read16();

        while (marker == 0xffff)
        {
          marker = 0xff00 | reader.Read8();
        }

        if (!HasSegment(marker))
        {
          throw CodecError("A frame has something else where a marker has to be");
        }

        if (marker == last)
        {
          return;
        }

        visit(marker, reader.ReadSegment());
      }
    }

    bool IsStartOfFrame(unsigned int marker)
    {
      return marker >= 0xffc0 && marker <= 0xffcf && marker != 0xffc4 && marker != 0xffc8 &&
             marker != 0xffcc;
    }

    // The version: libjpeg warns of others, and GDCM's assertions end the process at a warning
    void CheckJfif(std::string_view segment)
    {
      constexpr std::string_view JFIF("JFIF\0", 5);

      if (segment.size() >= 14 && segment.substr(0, JFIF.size()) == JFIF && segment[5] != 1)
      {
        throw NotCovered("The JFIF version of a frame is unknown");
      }
    }

    bool IsJfif(std::string_view segment)
    {
      return segment.size() >= 14 && segment.substr(0, 5) == std::string_view("JFIF\0", 5);
    }

    // All that a JPEG stream says of its colours
    struct ColorClaims
    {
      bool isRgb = false;
      bool isYcc = false;
    };

    void ReadAdobe(std::string_view segment, ColorClaims& claims)
    {
      if (segment.size() < 12 || segment.substr(0, 5) != "Adobe")
      {
        return;
      }

      switch (segment[11])
      {
        case 0:
          claims.isRgb = true;
          break;

        case 1:
          claims.isYcc = true;
          break;

        default:
          throw NotCovered("The colour transform of a frame is unknown");
      }
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

    void ReadFrameHeader(std::string_view segment, CodestreamHeader& header,
                         std::string& identifiers)
    {
      ByteReader reader(segment);
      header.precision = reader.Read8();
      header.height = reader.Read16();
      header.width = reader.Read16();
      header.components = reader.Read8();

      for (unsigned int i = 0; i < header.components; i++)
      {
        identifiers.push_back(static_cast<char>(reader.Read8()));
        reader.Read8();  // sampling factors
        reader.Read8();  // quantization table
      }
    }

    // The coding style: T.800 table A.15
    void ReadCodingStyle(std::string_view segment, CodestreamHeader& header)
    {
      ByteReader reader(segment);
      reader.Read8();   // Scod
      reader.Read8();   // progression
      reader.Read16();  // layers
      header.isColorTransformed = reader.Read8() == 1;
      reader.Read32();  // decomposition levels, code-block size and style
      header.isLossless = reader.Read8() == 1;
    }

    // Image and tile size: T.800 table A.9
    void ReadImageSize(std::string_view segment, CodestreamHeader& header)
    {
      ByteReader reader(segment);
      reader.Read16();  // capabilities
      const std::uint32_t right = reader.Read32();
      const std::uint32_t bottom = reader.Read32();
      const std::uint32_t left = reader.Read32();
      const std::uint32_t top = reader.Read32();
      const std::uint32_t tileWidth = reader.Read32();
      const std::uint32_t tileHeight = reader.Read32();
      reader.Read32();  // offsets of the first tile
      reader.Read32();
      header.components = reader.Read16();

      if (left >= right || top >= bottom || tileWidth == 0 || tileHeight == 0)
      {
        throw CodecError("The image size of a JPEG 2000 frame makes no sense");
      }

      header.width = right - left;
      header.height = bottom - top;

      for (unsigned int i = 0; i < header.components; i++)
      {
        const unsigned int depth = reader.Read8();
        const unsigned int horizontal = reader.Read8();
        const unsigned int vertical = reader.Read8();

        if (i > 0 && ((depth & 0x7f) + 1 != header.precision || depth >> 7 != header.isSigned))
        {
          throw NotCovered("The components of a JPEG 2000 frame differ");
        }

        if (horizontal != 1 || vertical != 1)
        {
          throw NotCovered("The components of a JPEG 2000 frame are subsampled");
        }

        header.precision = (depth & 0x7f) + 1;
        header.isSigned = depth >> 7 != 0;
      }
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

    // Padding may follow it. GDCM looks for the last byte 0xd9 of a frame, wherever that is.
    void CheckEnd(std::string_view frame)
    {
      std::size_t end = frame.size();

      while (end > 0 && frame[end - 1] != '\xd9')
      {
        end--;
      }

      // One byte may be anything: DCMTK pads JPEG-LS with what its buffer held before
      const std::string_view padding = frame.substr(end);

      for (const char byte : padding)
      {
        if (byte != '\0' && byte != '\xff' && padding.size() > 1)
        {
          throw CodecError("The end of a frame is missing");
        }
      }

      if (end < 2 || frame[end - 2] != '\xff')
      {
        throw CodecError("The end of a frame is missing");
      }
    }
  }


  CodestreamHeader ReadCodestreamHeader(CodestreamKind kind, std::string_view frame)
  {
    switch (kind)
    {
      case CodestreamKind::Jpeg:
        return ReadJpegHeader(frame);

      case CodestreamKind::JpegLs:
        return ReadJpegLsHeader(frame);

      case CodestreamKind::Jpeg2000:
        return ReadJpeg2000Header(frame);

      default:
        throw NotCovered("Frames of this transfer syntax have no header that is known");
    }
  }


  CodestreamHeader ReadJpegHeader(std::string_view frame)
  {
    ByteReader reader(frame);
    CodestreamHeader header;
    std::string identifiers;
    ColorClaims claims;

    if (reader.Read16() != MARKER_START_OF_IMAGE)
    {
      throw CodecError("A frame is no JPEG stream");
    }

    VisitSegments(reader, MARKER_START_OF_SCAN,
                  [&](unsigned int marker, std::string_view segment)
                  {
                    if (marker == MARKER_APP0)
                    {
                      CheckJfif(segment);
                      claims.isYcc |= IsJfif(segment);
                    }
                    else if (marker == MARKER_APP14)
                    {
                      ReadAdobe(segment, claims);
                    }
                    else if (marker >= 0xffc0 && marker <= 0xffc3)
                    {
                      ReadFrameHeader(segment, header, identifiers);
                      header.isLossless = marker == 0xffc3;
                    }
                    else if (IsStartOfFrame(marker) || marker == MARKER_JPEG_LS_FRAME)
                    {
                      throw NotCovered("The coding process of a JPEG frame is not covered");
                    }
                  });

    claims.isRgb |= identifiers == "RGB";
    header.colors = GetColors(header, claims);
    return header;
  }


  CodestreamHeader ReadJpegLsHeader(std::string_view frame)
  {
    ByteReader reader(frame);
    CodestreamHeader header;
    std::string identifiers;

    if (reader.Read16() != MARKER_START_OF_IMAGE)
    {
      throw CodecError("A frame is no JPEG-LS stream");
    }

    VisitSegments(reader, MARKER_START_OF_SCAN,
                  [&](unsigned int marker, std::string_view segment)
                  {
                    if (marker == MARKER_JPEG_LS_FRAME)
                    {
                      ReadFrameHeader(segment, header, identifiers);
                    }
                  });

    ByteReader scan(reader.ReadSegment());
    const unsigned int components = scan.Read8();

    for (unsigned int i = 0; i < components; i++)
    {
      scan.Read16();
    }

    header.isLossless = scan.Read8() == 0;
    CheckEnd(frame);
    return header;
  }


  CodestreamHeader ReadJpeg2000Header(std::string_view frame)
  {
    const std::string_view codestream = FindCodestream(frame);
    ByteReader reader(codestream);
    CodestreamHeader header;

    if (reader.Read16() != 0xff4f)
    {
      throw CodecError("A frame is no JPEG 2000 codestream");
    }

    VisitSegments(reader, MARKER_START_OF_TILE,
                  [&header](unsigned int marker, std::string_view segment)
                  {
                    if (marker == MARKER_SIZ)
                    {
                      ReadImageSize(segment, header);
                    }
                    else if (marker == MARKER_COD)
                    {
                      ReadCodingStyle(segment, header);
                    }
                  });

    CheckEnd(frame);
    return header;
  }

}
