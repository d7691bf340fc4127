// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <string>

namespace OrthancPerf
{
  // Why Orthanc would not show a stored image (preview, rendered, DICOMweb) as it shows the
  // received one: no picture, other colours or another brightness. Empty: it shows the same, or
  // nothing of either. Microseconds; any thread may call these.
  //
  // What holds in Orthanc 1.10.1 to 1.13.0 counts. Its decoder takes samples of uncompressed images
  // by their attributes (DicomIntegerPixelAccessor), and shows YBR_FULL not at all. Of compressed
  // frames it takes what DCMTK decodes, as if it was uncompressed (DicomImageDecoder::ApplyCodec):
  // Bits Stored 8 has no room for 16 allocated, and High Bit moves nothing. YBR_FULL is shown as
  // RGB, but for lossy JPEG and, from 1.12.1 on, Planar Configuration 1. RLE with Planar
  // Configuration 1 has false colours up to 1.11.2. Of JPEG 2000, only a plugin decodes, and gives
  // Orthanc uncompressed pixels.
  std::string FindLossOfPicture(const ImageDescription& received, const ImageDescription& stored);

  // The same before anything is done: of what engines would make of it in this transfer syntax
  std::string FindLossOfPicture(const ImageDescription& received, const std::string& target);
}
