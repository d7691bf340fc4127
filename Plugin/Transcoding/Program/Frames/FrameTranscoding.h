// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/Program/Frames/FrameCodec.h"

#include <memory>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // The engine of a worker program, for any codec library: finds the frames, decodes and encodes
  // one after the other, and writes them into a copy of the file. RLE and uncompressed pixels need
  // no library. It changes Pixel Data, the attributes of its encoding, and the File Meta
  // Information. All other elements stay byte for byte, unless the encoding of the data set
  // changes, which dcmdata does (FileInMemory.h).
  //
  // It trusts its caller: Obstacles.h has nothing against the image and this target.
  //
  // Owned by the main function. One thread, as a library's state is that of the process.
  class FrameTranscoding : public ITranscodingEngine
  {
  public:
    // "name": of the engine, "dcmtk"
    FrameTranscoding(const char* name, std::unique_ptr<const IFrameCodec> codec);

    const char* GetName() const noexcept override
    {
      return name_;
    }

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override;

  private:
    std::string Run(std::string_view file, const TransferSyntax& target,
                    unsigned int quality) const;

    const char* const name_;
    const std::unique_ptr<const IFrameCodec> codec_;
  };
}
