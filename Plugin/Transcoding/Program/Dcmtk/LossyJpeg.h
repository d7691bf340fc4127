// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

namespace OrthancPerf
{
  // JPEG Baseline and Extended, "xfer" is one of the two, by the JPEG library inside DCMTK, which
  // gets the samples as they are. DCMTK's own way into the data set renders them instead: window,
  // rescaling, and all. One thread.
  //
  // Replaces the pixel data, native and little endian, of the item by compressed frames, and
  // corrects its description. The image is one that CheckImage() finds nothing against, by pixel;
  // quality is 1 to 100. Throws CodecError.
  void EncodeLossyJpeg(DcmItem& item, DcmPixelData& pixels, const PixelDescription& image,
                       E_TransferSyntax xfer, unsigned int quality);
}
