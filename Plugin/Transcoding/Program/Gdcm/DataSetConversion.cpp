// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/DataSetConversion.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

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
  }


  std::string ConvertDataSet(std::string_view file, std::string_view transferSyntax)
  {
    // Without it all elements of implicit VR would become "UN"
    if (!dcmDataDict.isDictionaryLoaded())
    {
      throw NotCovered("DCMTK does not find its data dictionary");
    }

    DcmFileFormat dicom;
    std::string converted;
    const E_TransferSyntax target = DcmXfer(std::string(transferSyntax).c_str()).getXfer();
    Check(ReadFile(dicom, file.data(), file.size()), "read");
    Check(WriteFile(converted, dicom, target), "write");
    return converted;
  }
}
