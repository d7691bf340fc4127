// SPDX-License-Identifier: GPL-3.0-or-later
// JPEG: ITU-T T.81 annex B. JPEG-LS: T.87 annex C.
#include "Dicom/CodecError.h"
#include "Dicom/CodestreamReader.h"

#include <algorithm>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    // The second bytes of markers: ITU-T T.81 table B.1, T.87 table C.1
    constexpr std::uint8_t FRAME_LOSSLESS = 0xc3;
    constexpr std::uint8_t START_OF_SCAN = 0xda;
    constexpr std::uint8_t RESTART_INTERVAL = 0xdd;
    constexpr std::uint8_t APP0 = 0xe0;
    constexpr std::uint8_t APP8 = 0xe8;
    constexpr std::uint8_t APP14 = 0xee;
    constexpr std::uint8_t FRAME_JPEG_LS = 0xf7;
    constexpr std::uint8_t JPEG_LS_PARAMETERS = 0xf8;

    constexpr std::uint8_t FIRST_MARKER = 0x80;  // inside coded data

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

      reader.CheckEnd();
      return components;
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
      scan.CheckEnd();
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
  }

  CodestreamHeader ReadJpegHeader(CodestreamReader& reader)
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
      else if (marker == START_OF_SCAN)
      {
        reader.SkipCodedData(FIRST_MARKER);
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

    reader.VisitSegments(START_OF_SCAN, visit);

    // ITU-T T.81 section H.1.1. Both begin anew at another line: libjpeg counts groups of lines.
    DeclineIf(header.isLossless && hasRestarts && components.lines > 1,
              "lossless JPEG with restart intervals and a vertical sampling factor");
    claims.isRgb |= components.identifiers == "RGB";
    header.colors = GetColors(header, claims);
    return header;
  }

  CodestreamHeader ReadJpegLsHeader(CodestreamReader& reader)
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
        reader.SkipCodedData(FIRST_MARKER);
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

    reader.VisitSegments(START_OF_SCAN, visit);

    // DCMTK's CharLS writes and reads with other thresholds than T.87 section C.2.4.1.1.1.
    // Nothing tells who wrote a frame.
    DeclineIf(header.precision < 8, "JPEG-LS of fewer than 8 bits");
    header.isLossless = error == 0;
    return header;
  }
}
