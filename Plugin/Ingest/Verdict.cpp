// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/Verdict.h"

#include <array>
#include <cstdio>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint16_t OUT_OF_RESOURCES = 0xa700;
    constexpr std::uint16_t DATA_SET_DOES_NOT_MATCH = 0xa900;
    constexpr std::uint16_t CANNOT_UNDERSTAND = 0xc000;
    constexpr std::uint16_t HTTP_ACCEPTED = 202;
    constexpr std::uint16_t HTTP_BAD_REQUEST = 400;
    constexpr std::uint16_t HTTP_CONFLICT = 409;

    constexpr const char* STORAGE_FAILED = "storage full, or storage or database failed";

    // From Orthanc 1.13.0 on, what it has already looks as what a filter refused
    constexpr const char* NOT_KEPT = "refused by a filter, or stored already";


    std::string SayAnswer(const NotStored& instance)
    {
      std::array<char, 8> text = {};
      (void)std::snprintf(text.data(), text.size(), instance.isDicom ? "0x%04X" : "%u",
                          static_cast<unsigned>(*instance.status));
      return std::string("Orthanc answered ") + text.data();
    }


    bool IsFailure(const NotStored& instance)
    {
      const std::uint16_t status = *instance.status;
      return instance.isDicom ? status == OUT_OF_RESOURCES || status == DATA_SET_DOES_NOT_MATCH ||
                                    status == CANNOT_UNDERSTAND
                              : status >= HTTP_BAD_REQUEST || status == HTTP_ACCEPTED;
    }


    // What the response has against the instance itself; null: nothing
    const char* FindFault(const NotStored& instance)
    {
      switch (*instance.status)
      {
        case DATA_SET_DOES_NOT_MATCH:
          return ": the data set has another SOP class or instance than the request";

        case CANNOT_UNDERSTAND:
          return ": it cannot read the data set";

        case HTTP_BAD_REQUEST:
          return ": it cannot read what was uploaded";

        case HTTP_ACCEPTED:
        case HTTP_CONFLICT:
          return ": it did not take all instances of the request";

        default:
          return nullptr;
      }
    }


    Verdict JudgeFailure(const NotStored& instance)
    {
      if (instance.passedFilters)
      {
        return {Outcome::Failed, SayAnswer(instance) + ": " + STORAGE_FAILED, true};
      }

      const char* const fault = FindFault(instance);
      const char* const failure = ": it failed before it came to the storage";
      return {Outcome::Failed, SayAnswer(instance) + (fault == nullptr ? failure : fault),
              fault == nullptr};
    }
  }


  Verdict Judge(const NotStored& instance)
  {
    const bool isFailure = instance.status && IsFailure(instance);

    // A C-STORE response is that of one instance. That of an upload may speak of a whole ZIP.
    if (*instance.problem != '\0' && (isFailure || !instance.isDicom || !instance.status))
    {
      return {Outcome::Failed, instance.problem, false};
    }

    if (isFailure)
    {
      return JudgeFailure(instance);
    }

    if (instance.isDicom && instance.status.value_or(0) != 0)
    {
      return {Outcome::Discarded, SayAnswer(instance) + ": refused by a filter", false};
    }

    if (instance.passedFilters)
    {
      return {Outcome::Failed, STORAGE_FAILED, true};
    }

    return {Outcome::Discarded,
            instance.status ? NOT_KEPT : "not stored; there is no response that says why", false};
  }
}
