// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/TuningResource.h"

#include "Tuning/ParseJson.h"
#include "Tuning/SettingError.h"
#include "Tuning/TuningReader.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* ROUTE = "/perf/tuning";


    void CheckAllowed(bool isAllowed)
    {
      if (!isAllowed)
      {
        throw RestError(403, "Changing the tuning is switched off by \"AllowTuning\" in section "
                             "\"Perf\" of Orthanc's configuration");
      }
    }


    RestAnswer Answer(const TuningOutcome& outcome,
                      const std::function<void(const std::string&)>& warn)
    {
      for (const std::string& warning : outcome.warnings)
      {
        warn(warning);
      }

      return AnswerJson(ToJson(*outcome.tuning));
    }


    TuningOutcome Merge(TuningStore& store, const std::string& body)
    {
      try
      {
        return store.Merge(ParseJson(body.data(), body.size()));
      }
      catch (const SettingError& error)
      {
        throw RestError::WithBody(400, error.ToJson());
      }
    }
  }


  void RegisterTuningResource(RestRouter& router, TuningStore& store, bool isAllowed,
                              const std::function<void(const std::string&)>& warn)
  {
    const auto get = [&store](const RestRequest&)
    {
      return AnswerJson(ToJson(*store.Get()));
    };

    const auto put = [&store, isAllowed, warn](const RestRequest& request)
    {
      CheckAllowed(isAllowed);
      return Answer(Merge(store, request.body), warn);
    };

    const auto reset = [&store, isAllowed, warn](const RestRequest&)
    {
      CheckAllowed(isAllowed);
      return Answer(store.Reset(), warn);
    };

    router.Register(ROUTE, HttpMethod::Get, "The tuning document in force", get);
    router.Register(ROUTE, HttpMethod::Put, "Merge a document into the tuning (RFC 7396)", put);
    router.Register(ROUTE, HttpMethod::Delete, "Return to the tuning of the configuration", reset);
  }
}
