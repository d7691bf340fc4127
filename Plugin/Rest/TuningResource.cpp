// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/TuningResource.h"

#include "Rest/QueryArguments.h"
#include "Tuning/ParseJson.h"
#include "Tuning/TuningReader.h"
#include "Tuning/TuningSources.h"

#include <memory>
#include <mutex>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* ROUTE = "/perf/tuning";


    void CheckAllowed(const TuningPermission& permission, const RestRequest& request)
    {
      if (!permission.Allows(request.user))
      {
        throw RestError(403, std::string("Changing the tuning is ") +
                                 (permission.users.empty() ? "switched off" : "kept for others") +
                                 " by \"AllowTuning\" in section \"Perf\" of Orthanc's "
                                 "configuration");
      }
    }


    // One change after the other, so that they are noted in the order in which they come into force
    class TuningChanger
    {
    public:
      explicit TuningChanger(const TuningResourceSources& sources) : sources_(sources)
      {
      }

      RestAnswer Change(const RestRequest& request, const std::function<TuningOutcome()>& change)
      {
        CheckAllowed(sources_.permission, request);
        const std::lock_guard<std::mutex> lock(mutex_);
        const TuningOutcome outcome = change();
        sources_.changes.Note(*outcome.before, *outcome.tuning,
                              {DescribeText(request.user), request.address, request.proxy});

        for (const std::string& warning : outcome.warnings)
        {
          sources_.warn(warning);
        }

        return AnswerJson(ToJson(*outcome.tuning));
      }

    private:
      const TuningResourceSources sources_;
      std::mutex mutex_;
    };
  }


  void RegisterTuningResource(RestRouter& router, const TuningResourceSources& sources)
  {
    const auto changer = std::make_shared<TuningChanger>(sources);

    const auto get = [sources](const RestRequest& request)
    {
      return AnswerJson(GetFlag(request, "sources")
                            ? DescribeSources(sources.configuration, sources.store.GetOverrides())
                            : ToJson(*sources.store.Get()));
    };

    const auto put = [sources, changer](const RestRequest& request)
    {
      const auto merge = [&]
      {
        return sources.store.Merge(ParseJson(request.body.data(), request.body.size()));
      };
      return changer->Change(request, merge);
    };

    const auto reset = [sources, changer](const RestRequest& request)
    {
      return changer->Change(request, [&] { return sources.store.Reset(); });
    };

    router.Register(ROUTE, HttpMethod::Get, "The tuning document in force", get, {"sources"});
    router.Register(ROUTE, HttpMethod::Put, "Merge a document into the tuning (RFC 7396)", put);
    router.Register(ROUTE, HttpMethod::Delete, "Return to the tuning of the configuration", reset);
  }
}
