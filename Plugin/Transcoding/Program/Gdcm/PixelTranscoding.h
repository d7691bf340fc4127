// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetEditor.h"
#include "Dicom/ImageDescription.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/Program/Samples.h"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // Decodes the pixels of a file and encodes them for the target, in the file's editor. Lives on
  // the stack of one thread for one file.
  class PixelTranscoding
  {
  public:
    // Of an image that FindObstacle has nothing against. "limit": of bytes that all decoded frames
    // together may take.
    PixelTranscoding(DataSetEditor& editor, const ImageDescription& image, std::size_t limit);

    // "quality": of lossy targets, 1 to 100. Throws CodecError, NotCovered, or what the editor
    // throws.
    void Run(const TransferSyntax& target, unsigned int quality);

  private:
    void Decode();
    void DecodeNative();
    void WriteNative();
    void WriteEncapsulated(const TransferSyntax& target, unsigned int quality);
    void SetColors(std::string_view photometricInterpretation);

    DataSetEditor& editor_;
    const ImageDescription& image_;
    const FrameFormat format_;
    std::string_view photometricInterpretation_;  // of the decoded frames
    std::vector<std::string> storage_;            // of frames that are not in the file like that
    std::vector<std::string_view> frames_;
  };
}
