// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // A transfer syntax that instances can be transcoded to on ingest
  struct WritableSyntax
  {
    const char* uid;   // DICOM PS3.6 table A-1
    const char* name;  // as Orthanc calls it: DicomTransferSyntax_... in its Enumerations.h
    bool isLossy;      // what is written in it is a new instance: DICOM PS3.3 C.7.6.1.1.5
  };


  // All of them, in the order of their UIDs. Retired, video and decode-only syntaxes are not there.
  const std::vector<WritableSyntax>& GetWritableSyntaxes();

  // The syntax with this UID; nullptr if it cannot be written
  const WritableSyntax* FindWritableSyntax(const std::string& uid);

  // The UID of a syntax that is given by its UID or its name; nothing if it cannot be written
  std::optional<std::string> LookupWritableSyntax(const std::string& uidOrName);
}
