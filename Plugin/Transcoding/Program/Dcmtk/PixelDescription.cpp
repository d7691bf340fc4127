// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include "Dicom/CodecError.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    // No image has more (DICOM PS3.3 C.7.6.3.1.1 knows 1 and 3, 4 is retired), nor more bits
    constexpr unsigned int MAXIMUM_SAMPLES = 4;
    constexpr unsigned int MAXIMUM_BITS = 64;

    [[noreturn]] void ThrowIncomplete()
    {
      throw CodecError("the description of the pixel data is incomplete");
    }

    std::uint16_t ReadNumber(DcmItem& item, const DcmTagKey& tag)
    {
      Uint16 number = 0;

      if (item.findAndGetUint16(tag, number).bad())
      {
        ThrowIncomplete();
      }

      return number;
    }

    bool IsPlausible(const PixelDescription& image)
    {
      return image.rows > 0 && image.columns > 0 && image.samples > 0 &&
             image.samples <= MAXIMUM_SAMPLES && image.bitsAllocated > 0 &&
             image.bitsAllocated <= MAXIMUM_BITS && image.bitsStored > 0 &&
             image.bitsStored <= image.bitsAllocated && image.highBit < image.bitsAllocated &&
             image.highBit + 1 >= image.bitsStored && image.planarConfiguration <= 1;
    }
  }


  PixelDescription PixelDescription::Read(DcmItem& item)
  {
    PixelDescription image;
    image.rows = ReadNumber(item, DCM_Rows);
    image.columns = ReadNumber(item, DCM_Columns);
    image.samples = ReadNumber(item, DCM_SamplesPerPixel);
    image.bitsAllocated = ReadNumber(item, DCM_BitsAllocated);
    image.bitsStored = ReadNumber(item, DCM_BitsStored);
    image.highBit = ReadNumber(item, DCM_HighBit);
    image.isSigned = ReadNumber(item, DCM_PixelRepresentation) != 0;
    image.planarConfiguration =
        image.samples > 1 ? ReadNumber(item, DCM_PlanarConfiguration) : std::uint16_t(0);

    Sint32 frames = 1;
    item.findAndGetSint32(DCM_NumberOfFrames, frames);  // only in images of several frames
    image.frames = static_cast<std::uint32_t>(frames < 1 ? 1 : frames);

    OFString photometric;

    if (item.findAndGetOFString(DCM_PhotometricInterpretation, photometric).bad() ||
        !IsPlausible(image))
    {
      ThrowIncomplete();
    }

    image.photometric = ParsePhotometric({photometric.data(), photometric.size()});
    return image;
  }


  bool PixelDescription::IsMonochrome() const
  {
    return samples == 1 &&
           (photometric == Photometric::Monochrome1 || photometric == Photometric::Monochrome2);
  }


  bool PixelDescription::IsFullColor() const
  {
    return samples == 3 && (photometric == Photometric::Rgb || photometric == Photometric::YbrFull);
  }


  std::uint64_t PixelDescription::GetSize() const
  {
    const std::uint64_t bits = std::uint64_t(rows) * columns * samples * bitsAllocated;
    const std::uint64_t frame = (bits + 7) / 8;
    constexpr std::uint64_t LARGEST = std::numeric_limits<std::uint64_t>::max();
    return frame > LARGEST / frames ? LARGEST : frame * frames;
  }
}
