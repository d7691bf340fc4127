// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // What DcmtkEngine does to one file. One thread, once.
  class DcmtkTranscoding
  {
  public:
    // Throws NotCovered
    explicit DcmtkTranscoding(const TranscodingTarget& target);

    // The new file. Throws NotCovered or CodecError.
    std::string Run(std::string_view file);

  private:
    void Convert();
    void ConvertPixels(DcmPixelData& pixels);
    void Decode(DcmItem& item, DcmPixelData& pixels);
    void Encode(PixelDescription image, DcmPixelData& pixels);
    void EncodeAndKeep(const DcmTagKey& tag, const DcmRepresentationParameter& parameters,
                       DcmPixelData& pixels);
    void DecodeNested();
    void Choose(E_TransferSyntax xfer, const DcmRepresentationParameter* parameters, DcmItem& item,
                DcmPixelData& pixels, const char* deed);

    const TransferSyntax* const target_;
    const E_TransferSyntax xfer_;  // the target to DCMTK
    const unsigned int quality_;
    const TransferSyntax* source_ = nullptr;
    DcmFileFormat file_;
  };
}
