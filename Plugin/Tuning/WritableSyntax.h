// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"

#include <optional>
#include <string>

namespace OrthancPerf
{
  // A transfer syntax that instances can be transcoded to on ingest: retired, video and decode-only
  // ones are not among them
  using WritableSyntax = TransferSyntax;

  // The syntax with this UID; nullptr if it cannot be written
  const WritableSyntax* FindWritableSyntax(const std::string& uid);

  // Whether it can be written, with loss
  bool IsLossy(const std::string& uid);

  // How Orthanc calls it; the UID itself if it cannot be written
  std::string GetSyntaxName(const std::string& uid);

  // The UID of a syntax that is given by its UID or its name; nothing if it cannot be written
  std::optional<std::string> LookupWritableSyntax(const std::string& uidOrName);
}
