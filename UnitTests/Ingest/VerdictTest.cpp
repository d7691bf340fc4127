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
      const char* verdict;  // the outcome, whether it is an own failure, and the reason
    };

    constexpr bool DICOM = true;
    constexpr bool HTTP = false;

    const Case CASES[] = {
        // What the plugin itself has found
        {{"not DICOM", false, 400, HTTP}, "failed: not DICOM"},
        {{"not DICOM", false, {}, HTTP}, "failed: not DICOM"},
        {{"not DICOM", false, 200, HTTP}, "failed: not DICOM"},  // inside a ZIP

        // What Orthanc has read all the same
        {{"malformed", false, 0, DICOM}, "discarded: refused by a filter, or stored already"},
        {{"malformed", false, 0xc000, DICOM}, "failed: malformed"},
        {{"malformed", false, {}, DICOM}, "failed: malformed"},

        // C-STORE
        {{"", true, 0xa700, DICOM},
         "failed by itself: Orthanc answered 0xA700: storage full, or storage or database failed"},
        {{"", false, 0xa700, DICOM},
         "failed by itself: Orthanc answered 0xA700: it failed before it came to the storage"},
        {{"", false, 0xa900, DICOM},
         "failed: Orthanc answered 0xA900: the data set has another SOP class or instance than the "
         "request"},
        {{"", false, 0xc000, DICOM},
         "failed: Orthanc answered 0xC000: it cannot read the data set"},
        {{"", false, 0, DICOM}, "discarded: refused by a filter, or stored already"},
        {{"", true, 0, DICOM},
         "failed by itself: storage full, or storage or database failed"},  // its database, 1.10.1
        {{"", true, 0x0124, DICOM}, "discarded: Orthanc answered 0x0124: refused by a filter"},

        // Uploads
        {{"", false, 200, HTTP}, "discarded: refused by a filter, or stored already"},
        {{"", false, 400, HTTP}, "failed: Orthanc answered 400: it cannot read what was uploaded"},
        {{"", true, 400, HTTP},  // STOW-RS, of which no part was stored
         "failed by itself: Orthanc answered 400: storage full, or storage or database failed"},
        {{"", false, 500, HTTP},
         "failed by itself: Orthanc answered 500: it failed before it came to the storage"},
        {{"", true, 507, HTTP},
         "failed by itself: Orthanc answered 507: storage full, or storage or database failed"},
        {{"", false, 202, HTTP},
         "failed: Orthanc answered 202: it did not take all instances of the request"},
        {{"", false, 409, HTTP},  // STOW-RS, of which no part was stored
         "failed: Orthanc answered 409: it did not take all instances of the request"},
        {{"", true, 409, HTTP},
         "failed by itself: Orthanc answered 409: storage full, or storage or database failed"},
        {{"", false, 201, HTTP},
         "discarded: refused by a filter, or stored already"},  // another plugin's answer
        {{"", true, 200, HTTP},
         "failed by itself: storage full, or storage or database failed"},  // STOW-RS before 1.13

        // Without a response that can be read
        {{"", false, {}, HTTP}, "discarded: not stored; there is no response that says why"},
        {{"", true, {}, DICOM}, "failed by itself: storage full, or storage or database failed"},
    };
  }

  TEST(Verdict, WhatWasNotStoredIsWhatTheResponseSays)
  {
    for (const Case& known : CASES)
    {
      const Verdict verdict = Judge(known.instance);
      EXPECT_EQ(known.verdict, ToLabel(verdict.outcome) +
                                   std::string(verdict.isOwnFailure ? " by itself" : "") + ": " +
                                   verdict.reason);
    }
  }
}
