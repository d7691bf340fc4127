// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Verdict.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    struct Case
    {
      NotStored instance;
      Outcome outcome;
      bool isOwnFailure;
      const char* reason;
    };

    constexpr bool DICOM = true;
    constexpr bool HTTP = false;
    constexpr const char* STORAGE = "storage full, or storage or database failed";
    constexpr const char* NOT_KEPT = "refused by a filter, or stored already";

    const Case CASES[] = {
        // What the plugin itself has found
        {{"not DICOM", false, 400, HTTP}, Outcome::Failed, false, "not DICOM"},
        {{"not DICOM", false, {}, HTTP}, Outcome::Failed, false, "not DICOM"},
        {{"not DICOM", false, 200, HTTP}, Outcome::Failed, false, "not DICOM"},  // inside a ZIP

        // What Orthanc has read all the same
        {{"malformed", false, 0, DICOM}, Outcome::Discarded, false, NOT_KEPT},
        {{"malformed", false, 0xc000, DICOM}, Outcome::Failed, false, "malformed"},
        {{"malformed", false, {}, DICOM}, Outcome::Failed, false, "malformed"},

        // C-STORE
        {{"", true, 0xa700, DICOM},
         Outcome::Failed,
         true,
         "Orthanc answered 0xA700: storage full, or storage or database failed"},
        {{"", false, 0xa700, DICOM},
         Outcome::Failed,
         true,
         "Orthanc answered 0xA700: it failed before it came to the storage"},
        {{"", false, 0xa900, DICOM},
         Outcome::Failed,
         false,
         "Orthanc answered 0xA900: the data set has another SOP class or instance than the "
         "request"},
        {{"", false, 0xc000, DICOM},
         Outcome::Failed,
         false,
         "Orthanc answered 0xC000: it cannot read the data set"},
        {{"", false, 0, DICOM}, Outcome::Discarded, false, NOT_KEPT},
        {{"", true, 0, DICOM}, Outcome::Failed, true, STORAGE},  // its database, 1.10.1
        {{"", true, 0x0124, DICOM},
         Outcome::Discarded,
         false,
         "Orthanc answered 0x0124: refused by a filter"},

        // Uploads
        {{"", false, 200, HTTP}, Outcome::Discarded, false, NOT_KEPT},
        {{"", false, 400, HTTP},
         Outcome::Failed,
         false,
         "Orthanc answered 400: it cannot read what was uploaded"},
        {{"", true, 400, HTTP},  // STOW-RS, of which no part was stored
         Outcome::Failed,
         true,
         "Orthanc answered 400: storage full, or storage or database failed"},
        {{"", false, 500, HTTP},
         Outcome::Failed,
         true,
         "Orthanc answered 500: it failed before it came to the storage"},
        {{"", true, 507, HTTP},
         Outcome::Failed,
         true,
         "Orthanc answered 507: storage full, or storage or database failed"},
        {{"", false, 202, HTTP},
         Outcome::Failed,
         false,
         "Orthanc answered 202: it did not take all instances of the request"},
        {{"", false, 409, HTTP},  // STOW-RS, of which no part was stored
         Outcome::Failed,
         false,
         "Orthanc answered 409: it did not take all instances of the request"},
        {{"", true, 409, HTTP},
         Outcome::Failed,
         true,
         "Orthanc answered 409: storage full, or storage or database failed"},
        {{"", false, 201, HTTP}, Outcome::Discarded, false, NOT_KEPT},  // another plugin's answer
        {{"", true, 200, HTTP}, Outcome::Failed, true, STORAGE},        // STOW-RS before 1.13

        // Without a response that can be read
        {{"", false, {}, HTTP},
         Outcome::Discarded,
         false,
         "not stored; there is no response that says why"},
        {{"", true, {}, DICOM}, Outcome::Failed, true, STORAGE},
    };
  }

  TEST(Verdict, WhatWasNotStoredIsWhatTheResponseSays)
  {
    for (const Case& known : CASES)
    {
      const Verdict verdict = Judge(known.instance);
      EXPECT_EQ(known.reason, verdict.reason);
      EXPECT_EQ(known.outcome, verdict.outcome) << known.reason;
      EXPECT_EQ(known.isOwnFailure, verdict.isOwnFailure) << known.reason;
    }
  }
}
