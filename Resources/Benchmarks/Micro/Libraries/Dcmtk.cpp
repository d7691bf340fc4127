// SPDX-License-Identifier: GPL-3.0-or-later
#include "Encoder.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dcostrmb.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmjpeg/djencode.h>
#include <dcmtk/dcmjpeg/djrplol.h>

#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    void Check(const OFCondition& condition)
    {
      if (condition.bad())
      {
        throw std::runtime_error(condition.text());
      }
    }

    // As Orthanc's core sets it up: neither new UIDs, nor colours converted
    struct Codecs
    {
      Codecs()
      {
        DJEncoderRegistration::registerCodecs(ECC_lossyYCbCr, EUC_never);
      }
    };

    std::string Write(DcmFileFormat& file, std::size_t limit)
    {
      std::string buffer(limit, '\0');
      DcmOutputBufferStream stream(buffer.data(), static_cast<offile_off_t>(buffer.size()));
      file.transferInit();
      Check(file.write(stream, EXS_JPEGProcess14SV1, EET_ExplicitLength, nullptr));
      file.transferEnd();
      void* data = nullptr;
      offile_off_t size = 0;
      stream.flushBuffer(data, size);
      buffer.resize(static_cast<std::size_t>(size));
      return buffer;
    }
  }


  std::string EncodeFile(const std::string& file)
  {
    static const Codecs CODECS;
    DcmInputBufferStream stream;
    stream.setBuffer(file.data(), static_cast<offile_off_t>(file.size()));
    stream.setEos();

    DcmFileFormat image;
    image.transferInit();
    Check(image.read(stream));
    image.transferEnd();

    const DJ_RPLossless lossless(1, 0);
    Check(image.getDataset()->chooseRepresentation(EXS_JPEGProcess14SV1, &lossless));

    if (!image.getDataset()->canWriteXfer(EXS_JPEGProcess14SV1))
    {
      throw std::runtime_error("DCMTK cannot write it in JPEG Lossless");
    }

    image.loadAllDataIntoMemory();
    return Write(image, 2 * file.size() + 65536);
  }
}
