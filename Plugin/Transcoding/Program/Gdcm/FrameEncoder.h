// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/Program/Gdcm/FrameFormat.h"

#include <memory>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Compresses the frames of one image with one of GDCM's codecs. Lossless ones keep all allocated
  // bits, those above High Bit included.
  //
  // Lives on the stack of one thread.
  class FrameEncoder
  {
  public:
    virtual ~FrameEncoder() = default;

    // Throws CodecError or NotCovered
    virtual std::string Encode(std::string_view frame) const = 0;

    // Of what it writes
    virtual std::string GetPhotometricInterpretation() const = 0;

    virtual unsigned int GetPlanarConfiguration() const
    {
      return 0;
    }

    // Whether decoded samples can have other values than Bits Stored allows, which a codec does not
    // know of
    virtual bool MayExceedRange() const
    {
      return false;
    }
  };


  // An image to be compressed: what its samples are, in whatever frame
  struct FramesToEncode
  {
    FrameFormat format;
    SampleRange range;
    std::string photometricInterpretation;
  };

  // Throws NotCovered if GDCM can't write such images in the target so that they are right
  std::unique_ptr<FrameEncoder> MakeFrameEncoder(const FramesToEncode& frames,
                                                 const TranscodingTarget& target);
}
