// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    // No image has more (DICOM PS3.3 C.7.6.3.1.1 knows 1 and 3, 4 is retired), nor more bits
    constexpr std::uint16_t MAXIMUM_SAMPLES = 4;
    constexpr std::uint16_t MAXIMUM_BITS = 64;

    bool ReadNumber(DcmItem& item, const DcmTagKey& tag, std::uint16_t& value)
    {
      Uint16 number = 0;
      const bool isThere = item.findAndGetUint16(tag, number).good();
      value = number;
      return isThere;
    }

    bool IsPlausible(const PixelDescription& image)
    {
      return image.rows > 0 && image.columns > 0 && image.samplesPerPixel > 0 &&
             image.samplesPerPixel <= MAXIMUM_SAMPLES && image.bitsAllocated > 0 &&
             image.bitsAllocated <= MAXIMUM_BITS && image.bitsStored > 0 &&
             image.bitsStored <= image.bitsAllocated && image.highBit < image.bitsAllocated &&
             image.highBit + 1 >= image.bitsStored && image.planarConfiguration <= 1;
    }
  }


  std::optional<PixelDescription> PixelDescription::Read(DcmItem& item)
  {
    PixelDescription image;
    std::uint16_t representation = 0;
    OFString photometric;

    if (!ReadNumber(item, DCM_Rows, image.rows) || !ReadNumber(item, DCM_Columns, image.columns) ||
        !ReadNumber(item, DCM_SamplesPerPixel, image.samplesPerPixel) ||
        !ReadNumber(item, DCM_BitsAllocated, image.bitsAllocated) ||
        !ReadNumber(item, DCM_BitsStored, image.bitsStored) ||
        !ReadNumber(item, DCM_HighBit, image.highBit) ||
        !ReadNumber(item, DCM_PixelRepresentation, representation) ||
        item.findAndGetOFString(DCM_PhotometricInterpretation, photometric).bad())
    {
      return std::nullopt;
    }

    Sint32 frames = 1;
    item.findAndGetSint32(DCM_NumberOfFrames, frames);  // only in images of several frames
    image.frames = static_cast<std::uint32_t>(frames < 1 ? 1 : frames);
    image.isSigned = (representation != 0);
    image.photometric = ParsePhotometric({photometric.data(), photometric.size()});

    if (image.samplesPerPixel > 1 &&
        !ReadNumber(item, DCM_PlanarConfiguration, image.planarConfiguration))
    {
      return std::nullopt;
    }

    return IsPlausible(image) ? std::make_optional(image) : std::nullopt;
  }


  bool PixelDescription::IsMonochrome() const
  {
    return samplesPerPixel == 1 &&
           (photometric == Photometric::Monochrome1 || photometric == Photometric::Monochrome2);
  }


  bool PixelDescription::IsFullColor() const
  {
    return samplesPerPixel == 3 &&
           (photometric == Photometric::Rgb || photometric == Photometric::YbrFull);
  }


  std::uint64_t PixelDescription::GetSize() const
  {
    const std::uint64_t bits = std::uint64_t(rows) * columns * samplesPerPixel * bitsAllocated;
    const std::uint64_t frame = (bits + 7) / 8;
    constexpr std::uint64_t LARGEST = std::numeric_limits<std::uint64_t>::max();
    return frame > LARGEST / frames ? LARGEST : frame * frames;
  }
}
