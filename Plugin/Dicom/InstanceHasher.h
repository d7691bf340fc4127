// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace OrthancPerf
{
  // Keeps what Orthanc hashes into its identifier of an instance (DicomInstanceHasher): "Patient
  // ID|Study Instance UID|Series Instance UID|SOP Instance UID". The hash costs microseconds, and
  // few instances need it. The text has a patient's ID in it, so nobody can read it from here.
  // Allocates nothing before it is asked for the identifier. A value; one thread at a time.
  class InstanceHasher
  {
  public:
    // Orthanc drops longer values: ORTHANC_MAXIMUM_TAG_LENGTH
    static constexpr std::size_t MAXIMUM_IDENTIFIER_LENGTH = 256;

    // The next character of an identifier
    void Add(char character) noexcept
    {
      isKnown_ = isKnown_ && IsCommon(character);
      Append(character);
    }

    // The same of a value in VR UN, in which Orthanc decodes no character set
    void AddUndecoded(char character) noexcept
    {
      if (!IsCommon(character))
      {
        Append('\0');
      }

      Add(character);
    }

    // Between two identifiers
    void AddSeparator() noexcept
    {
      Append('|');
    }

    // There is no identifier
    void Reset() noexcept
    {
      length_ = 0;
    }

    // Whether Orthanc's identifiers of patient, study, series and instance are the same
    bool HasSameIdentifiers(const InstanceHasher& other) const noexcept;

    // As Orthanc writes it. Empty where that cannot be told: Orthanc hashes UTF-8, and a character
    // is not the same in all of DICOM's character sets.
    std::string GetInstanceId() const;

  private:
    // ISO-IR 14 (DICOM PS3.3 section C.12.1.1.2) differs from ASCII in "\" and "~"
    static bool IsCommon(char character) noexcept
    {
      return character >= ' ' && character < '~' && character != '\\';
    }

    void Append(char character) noexcept
    {
      if (length_ < text_.size())
      {
        text_[length_] = character;
        length_++;
      }
      else
      {
        isKnown_ = false;
      }
    }

    std::array<char, 4 * MAXIMUM_IDENTIFIER_LENGTH + 3> text_ = {};
    std::size_t length_ = 0;
    bool isKnown_ = true;
  };
}
