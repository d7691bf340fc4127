// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodestreamHeader.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamReader.h"
#include "Dicom/FrameFragments.h"

namespace OrthancPerf
{
  namespace
  {
    struct Format
    {
      CodestreamKind kind;
      std::string_view begin;
      const char* error;
      CodestreamHeader (*read)(CodestreamReader&);
    };

    constexpr Format FORMATS[] = {
        {CodestreamKind::Jpeg, "\xff\xd8", "A frame is no JPEG stream", &ReadJpegHeader},
        {CodestreamKind::JpegLs, "\xff\xd8", "A frame is no JPEG-LS stream", &ReadJpegLsHeader},
        {CodestreamKind::Jpeg2000, "\xff\x4f", "A frame is no JPEG 2000 codestream",
         &ReadJpeg2000Header}};

    const Format& GetFormat(CodestreamKind kind)
    {
      for (const Format& format : FORMATS)
      {
        if (format.kind == kind)
        {
          return format;
        }
      }

      throw NotCovered("Frames of this transfer syntax have no header that is known");
    }
  }

  CodestreamHeader ReadCodestreamHeader(CodestreamKind kind, std::string_view frame)
  {
    const Format& format = GetFormat(kind);
    CodestreamReader reader(frame);

    if (reader.Take(format.begin.size()) != format.begin)
    {
      throw CodecError(format.error);
    }

    const CodestreamHeader header = format.read(reader);

    // GDCM looks for the last byte 0xd9 of a frame, wherever that is
    if (!IsFragmentPadding(reader.GetRest()) || reader.GetRest() == "\xd9")
    {
      throw CodecError("Something follows the end of a frame");
    }

    return header;
  }
}
