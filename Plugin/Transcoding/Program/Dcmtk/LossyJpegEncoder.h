// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <cstdint>
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmjpeg/djcparam.h>
#include <memory>

class DJEncoder;

namespace OrthancPerf
{
  // JPEG Baseline and Extended by the JPEG library inside DCMTK, which gets the samples as they
  // are. DCMTK's own way into the data set renders them instead: window, rescaling, and all. One
  // thread.
  class LossyJpegEncoder
  {
  public:
    // "xfer" is one of the two; quality is 1 to 100
    LossyJpegEncoder(E_TransferSyntax xfer, const PixelDescription& image, unsigned int quality);

    ~LossyJpegEncoder();

    // Replaces the pixel data, native and little endian, of the item by compressed frames, and
    // corrects its description. The image is one that FindObstacle() finds nothing against, by
    // pixel.
    OFCondition Encode(DcmItem& item, DcmPixelData& pixels);

  private:
    OFCondition EncodeFrames(const std::uint8_t* data, DcmPixelSequence& sequence,
                             DcmOffsetList& offsets);
    OFCondition EncodeFrame(const std::uint8_t* frame, std::uint8_t*& compressed,
                            std::uint32_t& size);
    OFCondition Describe(DcmItem& item) const;

    const E_TransferSyntax xfer_;
    const PixelDescription image_;
    const DJCodecParameter parameters_;
    std::unique_ptr<DJEncoder> encoder_;
  };
}
