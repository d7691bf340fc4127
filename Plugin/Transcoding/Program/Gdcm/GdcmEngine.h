// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"

namespace OrthancPerf
{
  // The engine "gdcm": the codecs of GDCM (libjpeg with 8, 12 and 16 bits, CharLS, OpenJPEG), and
  // RLE of this project's own. Of an image it changes the Pixel Data, what says how they are
  // encoded, and the File Meta Information; all other elements stay as they are, byte for byte,
  // unless the data set itself changes between encodings, which is dcmdata's work.
  //
  // Only for the program OrthancPerfGdcm: GDCM's assertions, which Debian leaves in, may end it.
  // Any thread may call it, several at once.
  class GdcmEngine : public ITranscodingEngine
  {
  public:
    // Silences GDCM and DCMTK, in the whole process
    GdcmEngine();

    const char* GetName() const noexcept override
    {
      return "gdcm";
    }

    bool CanWrite(const std::string& transferSyntax) const noexcept override;

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override;
  };
}
