// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/TranscodedFile.h"

#include "Dicom/DicomFile.h"

namespace OrthancPerf
{
  std::string FindFlaw(const std::string& file, const std::string& transferSyntax,
                       const std::string& sopInstanceUid)
  {
    const DicomFileCheck check = CheckDicomFile(file.data(), file.size());

    if (!check.IsAcceptable())
    {
      return std::string("wrote an unreadable file: ") + ToLabel(check.verdict);
    }

    if (transferSyntax != check.transferSyntaxUid.data())
    {
      return "wrote another transfer syntax than was asked for";
    }

    // Of a deflated file, only what File Meta Information says could be seen: in some files that
    // has been another one all along
    if (check.verdict == DicomFileVerdict::Unverified)
    {
      return "";
    }

    return sopInstanceUid == check.sopInstanceUid.data() ? "" : "wrote another SOP Instance UID";
  }
}
