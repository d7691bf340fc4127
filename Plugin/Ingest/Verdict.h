// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"

#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What is known of an instance that Orthanc has not said to have stored, once its message is over
  struct NotStored
  {
    // Why Orthanc cannot read the file or does not find the identifiers that it needs; empty: it
    // can, as far as is known. Orthanc may read it all the same (Dicom/ReceivedFile.h). Never
    // freed.
    const char* problem = "";

    // All incoming-instance filters have accepted it: the plugin's own is asked last
    bool passedFilters = false;

    // Of the response: the DIMSE Status (0000,0900) or the HTTP status code. Nothing: there was
    // none, or it cannot be read.
    std::optional<std::uint16_t> status;
    bool isDicom = false;
  };

  struct Verdict
  {
    Outcome outcome = Outcome::Failed;
    std::string reason;         // for people, one of few
    bool isOwnFailure = false;  // as in FinishedInstance
  };

  // What became of it: failed if the response says so, or if it was not stored though all filters
  // had accepted it; else it was discarded. Sources: StoreScp.cpp of Orthanc answers 0xA700 to any
  // exception while it stores, 0xA900 and 0xC000 to what it cannot take; every other status but
  // zero is that of a filter. Zero is also what 1.10.1 answers where its database failed
  // (ServerContext::StoreAfterTranscoding, StoreStatus_Failure). Of HTTP, 400 and above
  // are failures, and 202: the DICOMweb plugin answers 202 where some parts failed, 400 or 409
  // where all did.
  Verdict Judge(const NotStored& instance);

  // "Orthanc answered 0xA700", "Orthanc answered 400"
  std::string SayAnswer(const std::string& subject, std::uint16_t status, bool isDicom);
}
