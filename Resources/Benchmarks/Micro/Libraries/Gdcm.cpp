// SPDX-License-Identifier: GPL-3.0-or-later
#include "Encoder.h"

#include <gdcmImageChangeTransferSyntax.h>
#include <gdcmImageReader.h>
#include <gdcmImageWriter.h>
#include <gdcmTrace.h>

#include <sstream>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    void Check(bool succeeded, const char* what)
    {
      if (!succeeded)
      {
        throw std::runtime_error(std::string("GDCM cannot ") + what);
      }
    }
  }


  std::string EncodeFile(const std::string& file)
  {
    gdcm::Trace::WarningOff();  // what it says of ordinary files would be measured, too
    std::istringstream input(file);
    gdcm::ImageReader reader;
    reader.SetStream(input);
    Check(reader.Read(), "read it");

    gdcm::ImageChangeTransferSyntax change;
    change.SetTransferSyntax(gdcm::TransferSyntax::JPEGLosslessProcess14_1);
    change.SetInput(reader.GetImage());
    Check(change.Change(), "encode it");

    std::ostringstream output;
    gdcm::ImageWriter writer;
    writer.SetFile(reader.GetFile());
    writer.SetImage(change.GetOutput());
    writer.SetStream(output);
    Check(writer.Write(), "write it");
    return output.str();
  }
}
