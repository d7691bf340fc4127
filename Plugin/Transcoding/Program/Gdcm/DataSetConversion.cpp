// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/DataSetConversion.h"

#include "Dicom/CodecError.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dcostrmb.h>
#include <dcmtk/dcmdata/dctk.h>

namespace OrthancPerf
{
  namespace
  {
    void Check(const OFCondition& condition, const std::string& deed)
    {
      if (condition.bad())
      {
        throw CodecError("DCMTK can't " + deed + " the data set: " + condition.text());
      }
    }

    void Read(DcmFileFormat& file, std::string_view bytes)
    {
      // Without it all elements of implicit VR would become "UN"
      if (!dcmDataDict.isDictionaryLoaded())
      {
        throw NotCovered("DCMTK does not find its data dictionary");
      }

      DcmInputBufferStream stream;
      stream.setBuffer(bytes.data(), static_cast<offile_off_t>(bytes.size()));
      stream.setEos();
      file.transferInit();
      Check(file.read(stream), "read");
      file.transferEnd();
    }

    std::string Write(DcmFileFormat& file, E_TransferSyntax syntax)
    {
      // The preamble, and what zlib adds to what can't be deflated
      constexpr std::size_t MARGIN = 1024;
      const std::size_t size = file.calcElementLength(syntax, EET_ExplicitLength);
      std::string bytes((size + size / 1000 + MARGIN) / 2 * 2, '\0');

      DcmOutputBufferStream stream(bytes.data(), static_cast<offile_off_t>(bytes.size()));
      file.transferInit();
      Check(file.write(stream, syntax, EET_ExplicitLength, nullptr, EGL_recalcGL, EPD_noChange, 0,
                       0, 0, EWM_fileformat),
            "write");
      file.transferEnd();
      stream.flush();  // zlib's rest

      void* written = nullptr;
      offile_off_t length = 0;
      stream.flushBuffer(written, length);
      // A deflated data set ends at an even place (DICOM PS3.5 section A.5)
      bytes.resize(static_cast<std::size_t>(length) + static_cast<std::size_t>(length) % 2);
      return bytes;
    }
  }


  std::string ConvertDataSet(std::string_view file, std::string_view transferSyntax)
  {
    DcmFileFormat dicom;
    Read(dicom, file);
    return Write(dicom, DcmXfer(std::string(transferSyntax).c_str()).getXfer());
  }
}
