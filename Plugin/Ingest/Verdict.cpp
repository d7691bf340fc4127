// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Verdict.h"

#include <array>
#include <cstdio>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint16_t OUT_OF_RESOURCES = 0xa700;
    constexpr std::uint16_t HTTP_BAD_REQUEST = 400;

    constexpr const char* STORAGE_FAILED = "storage full, or storage or database failed";

    // From Orthanc 1.13.0 on, what it has already looks as what a filter refused
    constexpr const char* NOT_KEPT = "refused by a filter, or stored already";

    // What a response has against the instance itself
    struct Fault
    {
      bool isDicom;
      std::uint16_t status;
      const char* meaning;
    };

    constexpr const char* NOT_ALL = ": it did not take all instances of the request";
    constexpr Fault FAULTS[] = {
        {true, 0xa900, ": the data set has another SOP class or instance than the request"},
        {true, 0xc000, ": it cannot read the data set"},
        {false, HTTP_BAD_REQUEST, ": it cannot read what was uploaded"},
        {false, 202, NOT_ALL},
        {false, 409, NOT_ALL}};

    // Null: none
    const char* FindFault(const NotStored& instance)
    {
      for (const Fault& fault : FAULTS)
      {
        if (instance.isDicom == fault.isDicom && instance.status == fault.status)
        {
          return fault.meaning;
        }
      }

      return nullptr;
    }
  }

  std::string SayAnswer(const std::string& subject, std::uint16_t status, bool isDicom)
  {
    std::array<char, 8> text = {};
    (void)std::snprintf(text.data(), text.size(), isDicom ? "0x%04X" : "%u",
                        static_cast<unsigned>(status));
    return subject + " answered " + text.data();
  }

  Verdict Judge(const NotStored& instance)
  {
    const std::uint16_t status = instance.status.value_or(0);
    const std::string answer = SayAnswer("Orthanc", status, instance.isDicom);
    const char* const fault = FindFault(instance);
    const bool isFailure = fault != nullptr || (instance.isDicom ? status == OUT_OF_RESOURCES
                                                                 : status >= HTTP_BAD_REQUEST);

    // A C-STORE response is that of one instance. That of an upload may speak of a whole ZIP.
    if (*instance.problem != '\0' && (isFailure || !instance.isDicom || !instance.status))
    {
      return {Outcome::Failed, instance.problem, false};
    }

    if (isFailure && instance.passedFilters)
    {
      return {Outcome::Failed, answer + ": " + STORAGE_FAILED, true};
    }

    if (isFailure)
    {
      constexpr const char* FAILURE = ": it failed before it came to the storage";
      return {Outcome::Failed, answer + (fault == nullptr ? FAILURE : fault), fault == nullptr};
    }

    if (instance.isDicom && status != 0)
    {
      return {Outcome::Discarded, answer + ": refused by a filter", false};
    }

    if (instance.passedFilters)
    {
      return {Outcome::Failed, STORAGE_FAILED, true};
    }

    return {Outcome::Discarded,
            instance.status ? NOT_KEPT : "not stored; there is no response that says why", false};
  }
}
