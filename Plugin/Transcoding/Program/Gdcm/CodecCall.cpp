// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/CodecCall.h"

#include "Dicom/CodecError.h"

#include <array>
#include <cstdint>
#include <gdcmByteValue.h>
#include <gdcmFragment.h>
#include <gdcmSequenceOfFragments.h>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    const gdcm::Tag PIXEL_DATA(0x7fe0, 0x0010);

    std::uint32_t CheckLength(std::size_t length)
    {
      // GDCM counts in 32 bits, the last values of which have a meaning, and rounds up
      if (length > std::numeric_limits<std::int32_t>::max())
      {
        throw std::length_error("A frame is longer than GDCM can count");
      }

      return static_cast<std::uint32_t>(length);
    }

    std::string Copy(const gdcm::ByteValue* value)
    {
      if (value == nullptr || value->GetPointer() == nullptr)
      {
        throw CodecError("GDCM made nothing of a frame");
      }

      return {value->GetPointer(), value->GetLength()};
    }

    gdcm::PhotometricInterpretation::PIType GetColors(const FrameFormat& format, bool isRgb)
    {
      if (format.samples == 1)
      {
        return gdcm::PhotometricInterpretation::MONOCHROME2;
      }

      return isRgb ? gdcm::PhotometricInterpretation::RGB
                   : gdcm::PhotometricInterpretation::YBR_FULL;
    }
  }


  void SetUp(gdcm::ImageCodec& codec, const FrameFormat& format, unsigned int bits, bool isSigned,
             bool isRgb)
  {
    const std::array<unsigned int, 3> dimensions = {static_cast<unsigned int>(format.columns),
                                                    static_cast<unsigned int>(format.rows), 1};
    const auto width = static_cast<unsigned short>(bits);
    codec.SetNumberOfDimensions(2);
    codec.SetDimensions(dimensions.data());
    codec.SetPlanarConfiguration(0);
    codec.SetPhotometricInterpretation(GetColors(format, isRgb));
    codec.SetNeedOverlayCleanup(false);
    codec.SetPixelFormat(gdcm::PixelFormat(static_cast<unsigned short>(format.samples), width,
                                           width, static_cast<unsigned short>(bits - 1),
                                           isSigned ? 1 : 0));
  }


  std::string Encode(gdcm::ImageCodec& codec, std::string_view frame)
  {
    gdcm::DataElement source(PIXEL_DATA, 0, gdcm::VR::OW);
    gdcm::DataElement encoded;
    source.SetByteValue(frame.data(), CheckLength(frame.size()));

    if (!codec.Code(source, encoded) || encoded.GetSequenceOfFragments() == nullptr ||
        encoded.GetSequenceOfFragments()->GetNumberOfFragments() != 1)
    {
      throw CodecError("GDCM could not encode a frame");
    }

    return Copy(encoded.GetSequenceOfFragments()->GetFragment(0).GetByteValue());
  }


  std::string Decode(gdcm::ImageCodec& codec, std::string_view codestream, std::size_t size)
  {
    gdcm::Fragment fragment;
    fragment.SetByteValue(codestream.data(), CheckLength(codestream.size()));

    // GDCM counts references: the element owns it
    auto* const fragments = new gdcm::SequenceOfFragments;
    gdcm::DataElement source(PIXEL_DATA, 0, gdcm::VR::OB);
    gdcm::DataElement decoded;
    source.SetValue(*fragments);
    fragments->AddFragment(fragment);

    if (!codec.Decode(source, decoded))
    {
      throw CodecError("GDCM could not decode a frame");
    }

    std::string bytes = Copy(decoded.GetByteValue());

    if (bytes.size() != size && bytes.size() != size + size % 2)
    {
      throw CodecError("GDCM decoded a frame to another size than its image has");
    }

    bytes.resize(size);
    return bytes;
  }
}
