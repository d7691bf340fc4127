// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"
#include "Transcoding/Program/Samples.h"

#include <string>
#include <string_view>

namespace OrthancPerf
{
  // Compresses the frames of one image, with GDCM's codecs where there is one. Lossless targets
  // keep all allocated bits, those above High Bit included.
  //
  // Lives on the stack of one thread.
  class FrameEncoder
  {
  public:
    // "range": of the samples of all frames; "unpadded": of those that are no padding, to which the
    // quality refers. "colors": their Photometric Interpretation. "quality": of lossy targets, 1 to
    // 100. Throws NotCovered if GDCM can't write such images in the target so that they are right.
    FrameEncoder(const FrameFormat& format, const SampleRange& range, const SampleRange& unpadded,
                 std::string_view colors, const TransferSyntax& target, unsigned int quality);

    // Throws CodecError or NotCovered
    std::string Encode(std::string_view frame) const;

    // Of what it writes
    std::string GetPhotometricInterpretation() const;

  private:
    void CheckLossySource() const;
    void CheckLossyJpeg(bool isBaseline) const;
    void CheckError() const;
    void CheckSize() const;
    unsigned int GetLosslessBits() const;
    unsigned int ChooseBits() const;
    std::string EncodeWithinRange(std::string_view frame) const;
    std::string EncodeOnce(std::string_view frame) const;
    std::string EncodeJpeg2000(std::string_view frame) const;
    double GetUnusedRange() const;

    const FrameFormat format_;
    const SampleRange range_;
    const SampleRange unpadded_;
    const std::string colors_;
    const CodestreamKind kind_;
    const unsigned int quality_;
    const int error_;  // near-lossless JPEG-LS: no sample differs by more
    const bool isLossy_;
    const bool isRgb_;
    const unsigned int bits_;  // of a sample that are encoded
  };
}
