// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/InstanceDigest.h"

#include <optional>

#include <boost/uuid/detail/sha1.hpp>

namespace OrthancPerf
{
  // Makes the digest from which Orthanc takes its identifier of an instance (DicomInstanceHasher):
  // of "Patient ID|Study Instance UID|Series Instance UID|SOP Instance UID". Keeps none of the
  // text and allocates nothing. A value; one thread at a time.
  class InstanceHasher
  {
  public:
    // The next character of an identifier
    void Add(char character) noexcept
    {
      isCommon_ = isCommon_ && IsCommon(character);
      Process(character);
    }

    // Between two identifiers
    void AddSeparator() noexcept
    {
      Process('|');
    }

    // Nothing: Orthanc hashes UTF-8, and a character is not the same in all of DICOM's character
    // sets
    std::optional<InstanceDigest> Finish() noexcept;

  private:
    // ISO-IR 14 (DICOM PS3.3 section C.12.1.1.2) differs from ASCII in "\" and "~"
    static bool IsCommon(char character) noexcept
    {
      return character >= ' ' && character < '~' && character != '\\';
    }

    // Boost throws beyond 2^61 bytes
    void Process(char character) noexcept
    {
      try
      {
        sha1_.process_byte(static_cast<unsigned char>(character));
      }
      catch (...)
      {
        isCommon_ = false;
      }
    }

    boost::uuids::detail::sha1 sha1_;
    bool isCommon_ = true;
  };
}
