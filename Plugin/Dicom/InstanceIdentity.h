// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <utility>

namespace OrthancPerf
{
  // What an instance is known by. The identifiers hold a patient's, so nobody can read them from
  // here. A value; it outlives the file.
  class InstanceIdentity
  {
  public:
    InstanceIdentity() = default;

    // "identifiers": what Orthanc hashes (DicomInstanceHasher), "Patient ID|Study Instance UID|
    // Series Instance UID|SOP Instance UID"; empty: not known
    InstanceIdentity(std::string sopInstanceUid, std::string identifiers) :
      sopInstanceUid_(std::move(sopInstanceUid)),
      identifiers_(std::move(identifiers))
    {
    }

    // Of the data set, where it can be read; else of the File Meta Information. Empty: not found.
    const std::string& GetSopInstanceUid() const noexcept
    {
      return sopInstanceUid_;
    }

    // All identifiers were found, each as DICOM wants it
    bool IsKnown() const noexcept
    {
      return !identifiers_.empty();
    }

    // Whether Orthanc's identifiers of patient, study, series and instance are the same
    bool HasSameIdentifiers(const InstanceIdentity& other) const noexcept
    {
      return identifiers_ == other.identifiers_;
    }

    // Orthanc's identifier of the instance. Empty where that cannot be told: Orthanc hashes UTF-8,
    // and a character is not the same in all of DICOM's character sets.
    std::string GetInstanceId() const;

  private:
    std::string sopInstanceUid_;
    std::string identifiers_;
  };
}
