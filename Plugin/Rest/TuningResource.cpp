// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Tuning/Json.h"
#include "Tuning/TuningReader.h"

#include <functional>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* ROUTE = "/perf/tuning";


    RestAnswer Change(const TuningResourceSources& sources, const RestRequest& request,
                      const std::function<TuningOutcome(const TuningAuthor&)>& change)
    {
      if (!sources.isAllowed)
      {
        throw RestError(403, "Changing the tuning is switched off by \"AllowTuning\" in section "
                             "\"Perf\" of Orthanc's configuration");
      }

      const TuningOutcome outcome = change({DescribeText(request.GetUser()), request.address});

      for (const std::string& warning : outcome.warnings)
      {
        sources.warn(warning);
      }

      return AnswerJson(ToJson(*outcome.tuning));
    }
  }


  void RegisterTuningResource(RestRouter& router, const TuningResourceSources& sources)
  {
    const auto get = [sources](const RestRequest& request)
    {
      return AnswerJson(GetFlag(request, "sources")
                            ? DescribeSources(sources.configuration, sources.store.GetOverrides())
                            : ToJson(*sources.store.Get()));
    };

    const auto put = [sources](const RestRequest& request)
    {
      return Change(sources, request,
                    [&](const TuningAuthor& author) {
                      return sources.store.Merge(
                          ParseJson(request.body.data(), request.body.size()), author);
                    });
    };

    const auto reset = [sources](const RestRequest& request)
    {
      return Change(sources, request,
                    [&](const TuningAuthor& author) { return sources.store.Reset(author); });
    };

    router.Register(ROUTE, HttpMethod::Get, "The tuning document in force", get);
    router.Register(ROUTE, HttpMethod::Put, "Merge a document into the tuning (RFC 7396)", put);
    router.Register(ROUTE, HttpMethod::Delete, "Return to the tuning of the configuration", reset);
  }
}
