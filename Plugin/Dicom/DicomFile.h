// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ElementText.h"
#include "Dicom/InstanceHasher.h"

#include <cstddef>

namespace OrthancPerf
{
  // What Orthanc makes of the bytes of a received file
  enum class DicomFileVerdict
  {
    Readable,           // Orthanc can read it, and has all it needs to store it
    Unverified,         // nothing speaks against it, but not all was seen: deflated, or too long
    NotDicom,           // no DICOM prefix, and no data set in its place
    Truncated,          // begins as a DICOM file and ends inside an element
    Malformed,          // begins as a DICOM file and cannot be read on
    IdentifiersMissing  // well-formed, but Orthanc cannot identify the instance: a DICOMDIR, say
  };

  const char* ToLabel(DicomFileVerdict verdict);  // "readable"

  // What an instance is known by. A value.
  struct InstanceIdentity
  {
    // Of the data set, where it can be read; else of the File Meta Information. Empty: not found.
    UidText sopInstanceUid = {};

    InstanceHasher hasher;  // knows Orthanc's identifier
  };

  // The answer of CheckDicomFile. A value.
  struct DicomFileCheck : InstanceIdentity
  {
    DicomFileVerdict verdict = DicomFileVerdict::NotDicom;

    // What keeps Orthanc from storing it, for people; empty: nothing. Never freed.
    const char* problem = "";

    // Of the File Meta Information. Empty: not found.
    UidText transferSyntaxUid = {};

    // Whether Orthanc would come to call its incoming-instance filters with this file
    bool IsAcceptable() const noexcept
    {
      return verdict == DicomFileVerdict::Readable || verdict == DicomFileVerdict::Unverified;
    }
  };

  // Looks through a received file for what would keep Orthanc from storing it, in the way in
  // which Orthanc does (FromDcmtkBridge::LoadFromMemoryBuffer, DicomInstanceHasher): the File
  // Meta Information (DICOM PS3.10 section 7.1) and the data set must be well-formed to DCMTK,
  // Study, Series and SOP Instance UID be present and not empty, Patient ID be no longer than
  // Orthanc keeps. It tells an instance that failed from one that a filter discarded.
  //
  // Microseconds, no allocation, bounded work whatever the bytes: any thread may call it for
  // every instance. "data" may be nullptr if "size" is zero.
  DicomFileCheck CheckDicomFile(const void* data, std::size_t size) noexcept;
}
