// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include "Transcoding/Program/Dcmdata/OutputString.h"

#include <dcmtk/dcmdata/dcistrmb.h>

namespace OrthancPerf
{
  OFCondition ReadFile(DcmFileFormat& file, const void* data, std::size_t size)
  {
    DcmInputBufferStream stream;
    stream.setBuffer(data, static_cast<offile_off_t>(size));
    stream.setEos();

    file.transferInit();
    const OFCondition condition = file.read(stream);
    file.transferEnd();
    return condition;
  }


  OFCondition WriteFile(std::string& bytes, DcmFileFormat& file, E_TransferSyntax syntax)
  {
    OutputString stream(file.calcElementLength(syntax, EET_ExplicitLength));
    file.transferInit();
    const OFCondition condition = file.write(stream, syntax, EET_ExplicitLength, nullptr,
                                             EGL_recalcGL, EPD_noChange, 0, 0, 0, EWM_fileformat);
    file.transferEnd();
    stream.flush();  // zlib's rest
    bytes = stream.Take();

    if (bytes.size() % 2 != 0)
    {
      bytes += '\0';  // a deflated data set ends at an even place (DICOM PS3.5 section A.5)
    }

    return condition;
  }
}
