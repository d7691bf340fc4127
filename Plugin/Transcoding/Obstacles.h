// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"
#include "Transcoding/Engines/TranscodingEngine.h"

#include <string>
#include <string_view>

namespace OrthancPerf
{
  // All that keeps an image from being transcoded, as far as it can be told without decoding it:
  // asked here, once, before an engine is. Engines trust the image, and refuse only what they find
  // as they decode and encode it.
  //
  //   std::string reason = FindReasonToLeaveAlone(image, target);  // on its way into the store
  //   reason = FindObstacle(image, target);                        // for all engines
  //   reason = FindObstacleOfEngine(image, target, "gdcm");        // for one of them
  //
  // Each reason is empty if there is none, and holds nothing of the file. Microseconds, but for
  // compressed frames, which are looked through. Any thread may call these.

  // Why this image is left alone on its way into the store: it is in the target already, has no
  // pixels, or is a video. For a lossy target also: its samples are labels or measurements.
  std::string FindReasonToLeaveAlone(const ImageDescription& image, const std::string& target);

  // Why no engine is to be asked: the result could be another image (PixelDataFlaw.h), would break
  // a digital signature, or does not fit into the transfer syntax.
  std::string FindObstacle(const ImageDescription& image, const std::string& target);

  // The same for this engine, of an image that FindObstacle() has nothing against: what its codecs
  // do not cover
  std::string FindObstacleOfEngine(const ImageDescription& image, const std::string& target,
                                   std::string_view engine);

  // Asks an engine, unless one of the two above speaks against it. "image" describes "file".
  EngineResult AskEngine(const ITranscodingEngine& engine, const ImageDescription& image,
                         std::string_view file, const TranscodingTarget& target);

  // Why Orthanc would not show the image in this transfer syntax (preview, rendered, DICOMweb) as
  // it shows the received one: no picture, other colours or another brightness. Empty: it shows the
  // same, or nothing of either.
  //
  // What holds in Orthanc 1.10.1 to 1.13.0 counts. Its decoder takes samples of uncompressed images
  // by their attributes (DicomIntegerPixelAccessor), and shows YBR_FULL not at all. Of compressed
  // frames it takes what DCMTK decodes, as if it was uncompressed (DicomImageDecoder::ApplyCodec):
  // Bits Stored 8 has no room for 16 allocated, and High Bit moves nothing. YBR_FULL is shown as
  // RGB, but for lossy JPEG and, from 1.12.1 on, Planar Configuration 1. RLE with Planar
  // Configuration 1 has false colours up to 1.11.2. Of JPEG 2000, only a plugin decodes, and gives
  // Orthanc uncompressed pixels.
  std::string FindLossOfPicture(const ImageDescription& received, const std::string& target);

  // The same, of what an engine has written
  std::string FindLossOfPicture(const ImageDescription& received, const ImageDescription& stored);
}
