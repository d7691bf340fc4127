// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Engines/TranscodingEngine.h"

#include <cstddef>
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <string>

namespace OrthancPerf
{
  struct PixelDescription;

  // What DcmtkEngine does to one file. One thread, once.
  class DcmtkTranscoding
  {
  public:
    explicit DcmtkTranscoding(const TranscodingTarget& target);

    EngineResult Run(const void* data, std::size_t size);

  private:
    // Thrown with what speaks against it
    class Obstacle;

    void Read(const void* data, std::size_t size);
    void Convert();
    void ConvertPixels(DcmPixelData& pixels);
    void Decode(DcmItem& item, DcmPixelData& pixels);
    void Encode(PixelDescription image, DcmPixelData& pixels);
    static void CheckStoredBits(const PixelDescription& image, DcmPixelData& pixels);
    void MakeInterleaved(PixelDescription& image, DcmPixelData& pixels);
    void EncodeLossless(const DcmRepresentationParameter& parameters, DcmPixelData& pixels);
    void DecodeNested();
    void Choose(E_TransferSyntax xfer, const DcmRepresentationParameter* parameters, DcmItem& item,
                DcmPixelData& pixels, const char* deed);
    std::string Write();

    const E_TransferSyntax target_;
    const unsigned int quality_;
    E_TransferSyntax source_ = EXS_Unknown;
    DcmFileFormat file_;
  };
}
