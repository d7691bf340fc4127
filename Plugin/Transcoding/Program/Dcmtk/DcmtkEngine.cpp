// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/DcmtkEngine.h"

#include "Transcoding/Program/Dcmdata/FileInMemory.h"
#include "Transcoding/Program/Dcmtk/CodecWarnings.h"
#include "Transcoding/Program/Dcmtk/DcmtkTranscoding.h"
#include "Transcoding/Program/Dcmtk/Obstacles.h"
#include "Transcoding/Program/RunWorker.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcrleerg.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmimage/diregist.h>  // lets JPEG-LS see colour images
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpeg/djencode.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/dcmjpls/djencode.h>

namespace OrthancPerf
{
  namespace
  {
    // YCbCr stays what it is, as the way to RGB and back rounds; UIDs stay; colour is interleaved.
    // RLE is decoded without DCMTK.
    void RegisterDecoders()
    {
      DJDecoderRegistration::registerCodecs(EDC_never, EUC_never, EPC_colorByPixel);
      DJLSDecoderRegistration::registerCodecs(EJLSUC_never, EJLSPC_restore);
    }

    // Lossless from bit to bit, of all bits allocated, so that what lies in unused ones (overlays)
    // stays: "true lossless" JPEG and JPEG-LS that is not "cooked". With offset tables.
    void RegisterEncoders()
    {
      DJEncoderRegistration::registerCodecs(ECC_lossyYCbCr, EUC_never);
      DJLSEncoderRegistration::registerCodecs(0, 0, 0, 0, OFFalse /* not cooked */, 0, OFTrue,
                                              EJLSUC_never);
      DcmRLEEncoderRegistration::registerCodecs(OFFalse);
    }
  }


  DcmtkEngine::DcmtkEngine()
  {
    CodecWarnings::Install();
    RegisterDecoders();
    RegisterEncoders();
  }


  DcmtkEngine::~DcmtkEngine()
  {
    DcmRLEEncoderRegistration::cleanup();
    DJLSEncoderRegistration::cleanup();
    DJEncoderRegistration::cleanup();
    DJLSDecoderRegistration::cleanup();
    DJDecoderRegistration::cleanup();
  }


  std::string DcmtkEngine::GetProblem() const
  {
    return FindDcmdataProblem();
  }


  bool DcmtkEngine::CanWrite(const std::string& transferSyntax) const noexcept
  {
    return CanEncode(FindTransferSyntax(transferSyntax));
  }


  EngineResult DcmtkEngine::Transcode(const void* data, std::size_t size,
                                      const TranscodingTarget& target) const noexcept
  {
    const std::string problem = GetProblem();
    return problem.empty()
               ? MakeResult(
                     [&] {
                       return DcmtkTranscoding(target).Run({static_cast<const char*>(data), size});
                     })
               : EngineResult::MakeFailed(problem);
  }
}
