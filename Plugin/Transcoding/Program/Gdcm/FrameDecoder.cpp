// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameDecoder.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/Program/Gdcm/CodecCall.h"
#include "Transcoding/Program/Gdcm/LibjpegWarnings.h"

#include <gdcmJPEG2000Codec.h>
#include <gdcmJPEGCodec.h>
#include <gdcmJPEGLSCodec.h>

namespace OrthancPerf
{
  namespace
  {
    std::string DecodeStream(CodestreamKind kind, const FrameFormat& format, std::string_view frame,
                             const CodestreamHeader& header)
    {
      const unsigned int bits = header.precision <= 8 ? 8 : 16;
      const std::size_t size = format.rows * format.columns * format.samples * (bits / 8);

      if (kind == CodestreamKind::Jpeg)
      {
        // GDCM picks its library by the bits: libjpeg is there three times
        const unsigned int depth = header.precision > 8 && header.precision <= 12 ? 12 : bits;
        const LibjpegWarnings warnings;
        gdcm::JPEGCodec codec;
        SetUp(codec, format, depth, false, false);
        std::string samples = Decode(codec, frame, size);

        if (warnings.IsDamaged())
        {
          throw CodecError("A JPEG frame is damaged");
        }

        return samples;
      }

      if (kind == CodestreamKind::JpegLs)
      {
        gdcm::JPEGLSCodec codec;
        SetUp(codec, format, bits, false, false);
        return Decode(codec, frame, size);
      }

      gdcm::JPEG2000Codec codec;
      codec.SetNumberOfThreadsForDecompression(0);
      SetUp(codec, format, bits, header.isSigned, false);
      return Decode(codec, frame, size);
    }
  }


  std::string DecodeFrame(CodestreamKind kind, const FrameFormat& format,
                          const FrameFragments& fragments)
  {
    std::string storage;
    const std::string_view frame = Join(fragments, storage);

    if (kind == CodestreamKind::Rle)
    {
      return DecodeRleFrame(frame, format.rows * format.columns, format.samples,
                            format.GetSampleSize());
    }

    const CodestreamHeader header = ReadCodestreamHeader(kind, frame);

    if (header.isSigned && !format.isSigned)
    {
      throw NotCovered("A frame is signed, and its data set is not");
    }

    if (header.precision < 2)
    {
      throw NotCovered("A frame has samples of one bit");
    }

    std::string samples = DecodeStream(kind, format, frame, header);

    // GDCM gives a byte for up to 8 bits, two for more
    if (samples.size() < format.GetFrameSize())
    {
      samples = WidenSamples(samples, format);
    }

    if (format.isSigned && format.IsRightAligned() && header.precision <= format.bitsStored)
    {
      ExtendSigns(samples, format, header.precision);
    }

    return samples;
  }
}
