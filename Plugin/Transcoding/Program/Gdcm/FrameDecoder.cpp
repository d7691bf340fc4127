// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameDecoder.h"

#include "Dicom/CodecError.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/Program/Gdcm/CodecCall.h"
#include "Transcoding/Program/Gdcm/LibjpegWarnings.h"
#include "Transcoding/Program/Gdcm/Samples.h"

#include <gdcmJPEG2000Codec.h>
#include <gdcmJPEGCodec.h>
#include <gdcmJPEGLSCodec.h>

namespace OrthancPerf
{
  FrameDecoder::FrameDecoder(CodestreamKind kind, const FrameFormat& format) :
    kind_(kind),
    format_(format)
  {
  }


  std::string FrameDecoder::Decode(const FrameFragments& fragments) const
  {
    std::string storage;
    const std::string_view frame = Join(fragments, storage);

    if (kind_ == CodestreamKind::Rle)
    {
      return DecodeRleFrame(frame, format_.rows * format_.columns, format_.samples,
                            format_.GetSampleSize());
    }

    const CodestreamHeader header = ReadCodestreamHeader(kind_, frame);

    if (header.isSigned && !format_.isSigned)
    {
      throw NotCovered("A frame is signed, and its data set is not");
    }

    if (header.precision < 2)
    {
      throw NotCovered("A frame has samples of one bit");
    }

    std::string samples = DecodeStream(frame, header);

    // GDCM gives a byte for up to 8 bits, two for more
    if (samples.size() < format_.GetFrameSize())
    {
      samples = WidenSamples(samples, format_);
    }

    if (format_.isSigned && format_.IsRightAligned() && header.precision <= format_.bitsStored)
    {
      ExtendSigns(samples, format_, header.precision);
    }

    return samples;
  }


  std::string FrameDecoder::DecodeStream(std::string_view frame,
                                         const CodestreamHeader& header) const
  {
    const unsigned int bits = header.precision <= 8 ? 8 : 16;
    const std::size_t size = format_.rows * format_.columns * format_.samples * (bits / 8);

    if (kind_ == CodestreamKind::Jpeg)
    {
      // GDCM picks its library by the bits: libjpeg is there three times
      const unsigned int depth = header.precision > 8 && header.precision <= 12 ? 12 : bits;
      const LibjpegWarnings warnings;
      gdcm::JPEGCodec codec;
      SetUp(codec, format_, depth, false, false);
      std::string samples = DecodeFrame(codec, frame, size);

      if (warnings.IsDamaged())
      {
        throw CodecError("A JPEG frame is damaged");
      }

      return samples;
    }

    if (kind_ == CodestreamKind::JpegLs)
    {
      gdcm::JPEGLSCodec codec;
      SetUp(codec, format_, bits, false, false);
      return DecodeFrame(codec, frame, size);
    }

    gdcm::JPEG2000Codec codec;
    codec.SetNumberOfThreadsForDecompression(0);
    SetUp(codec, format_, bits, header.isSigned, false);
    return DecodeFrame(codec, frame, size);
  }


  std::string_view FrameDecoder::GetColors(std::string_view photometricInterpretation) const
  {
    return kind_ == CodestreamKind::Rle
               ? photometricInterpretation
               : ToTerm(GetDecoded(ParsePhotometric(photometricInterpretation)));
  }
}
