// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/EncoderTools.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Gdcm/CodecBuffer.h"

#include <algorithm>
#include <array>

namespace OrthancPerf
{
  bool IsRgb(const FramesToEncode& frames)
  {
    return frames.format.samples == 3 && frames.photometricInterpretation == "RGB";
  }


  void SetUp(gdcm::ImageCodec& codec, const FrameFormat& format, unsigned int bits, bool isSigned,
             gdcm::PhotometricInterpretation::PIType colors)
  {
    const std::array<unsigned int, 3> dimensions = {static_cast<unsigned int>(format.columns),
                                                    static_cast<unsigned int>(format.rows), 1};
    codec.SetNumberOfDimensions(2);
    codec.SetDimensions(dimensions.data());
    codec.SetPlanarConfiguration(0);
    codec.SetPhotometricInterpretation(colors);
    codec.SetNeedOverlayCleanup(false);
    codec.SetPixelFormat(
        gdcm::PixelFormat(static_cast<unsigned short>(format.samples),
                          static_cast<unsigned short>(bits), static_cast<unsigned short>(bits),
                          static_cast<unsigned short>(bits - 1), isSigned ? 1 : 0));
  }


  gdcm::PhotometricInterpretation::PIType GetColors(const FramesToEncode& frames)
  {
    if (frames.format.samples == 1)
    {
      return gdcm::PhotometricInterpretation::MONOCHROME2;
    }

    return IsRgb(frames) ? gdcm::PhotometricInterpretation::RGB
                         : gdcm::PhotometricInterpretation::YBR_FULL;
  }


  std::string EncodeFrame(gdcm::ImageCodec& codec, std::string_view frame)
  {
    gdcm::DataElement encoded;

    if (!codec.Code(MakeBytes(frame), encoded))
    {
      throw CodecError("GDCM could not encode a frame");
    }

    return GetFragment(encoded);
  }


  void CheckDimensions(const FrameFormat& format)
  {
    constexpr std::size_t MAXIMUM = 65000;

    if (format.rows > MAXIMUM || format.columns > MAXIMUM)
    {
      throw NotCovered("GDCM does not encode more than 65,000 rows or columns in this syntax");
    }
  }


  unsigned int GetLosslessBits(const FramesToEncode& frames, unsigned int least)
  {
    const FrameFormat& format = frames.format;
    const bool fits = !format.isSigned && format.IsRightAligned() &&
                      frames.range.FitsInto(SampleRange::Allowed(format));

    // With up to 8 bits the codecs take samples of one byte
    const unsigned int minimum = format.bitsAllocated == 8 ? least : 9;
    return fits ? std::max(format.bitsStored, minimum) : format.bitsAllocated;
  }


  void CheckLossySource(const FramesToEncode& frames)
  {
    constexpr unsigned int MINIMUM_BITS = 4;

    if (frames.format.bitsStored < MINIMUM_BITS)
    {
      throw NotCovered("Lossy compression would leave little of so few bits");
    }

    if (frames.photometricInterpretation == "PALETTE COLOR")
    {
      throw NotCovered("Indices into a palette can't be compressed with loss");
    }

    if (!frames.format.IsRightAligned() ||
        !frames.range.FitsInto(SampleRange::Allowed(frames.format)))
    {
      throw NotCovered("The image has bits above its High Bit, which lossy compression would lose");
    }
  }
}
