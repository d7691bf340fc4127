// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // Points begin with a second. 0: all of them
    UnixSeconds GetSince(const RestRequest& request)
    {
      const std::optional<std::string> text = GetArgument(request, "since");
      const auto moment = ParseMoment(text.value_or("19700101T000000"));

      if (!moment)
      {
        throw MakeArgumentError("since", *text, "a moment in UTC such as 20261121T104736");
      }

      return std::chrono::ceil<std::chrono::seconds>(moment->time_since_epoch()).count();
    }


    bool IsObserved(const HistoryExcerpt& excerpt, std::size_t direction, Phase phase)
    {
      return std::any_of(excerpt.points.begin(), excerpt.points.end(),
                         [=](const HistoryPoint& point)
                         { return point.directions[direction].IsObserved(phase); });
    }


    Json::Value Describe(const HistoryExcerpt& excerpt, std::size_t place)
    {
      const auto list = [&excerpt, place](bool isObserved, auto get)
      {
        return isObserved ? std::make_optional(
                                ListJson(excerpt.points, [&get, place](const HistoryPoint& point)
                                         { return Json::Value(get(point.directions[place])); }))
                          : std::nullopt;
      };
      const auto count = [](auto member)
      {
        return [member](const TrafficBucket& traffic)
        {
          return ToCount(traffic.*member);
        };
      };
      const bool areStallsObserved = excerpt.areStallsObserved[place];
      return MakeObject(
          {{"Instances", list(true, count(&TrafficBucket::instances))},
           {"Bytes", list(true, count(&TrafficBucket::bytes))},
           {"Failed", list(true, [](const TrafficBucket& traffic)
                           { return ToCount(traffic.GetOutcome(Outcome::Failed)); })},
           {"Stalls", list(areStallsObserved, count(&TrafficBucket::stalls))},
           {"StallSeconds", list(areStallsObserved, [](const TrafficBucket& traffic)
                                 { return traffic.stallSeconds; })},
           {"StallIdleSeconds", list(areStallsObserved, [](const TrafficBucket& traffic)
                                     { return traffic.stallIdleSeconds; })},
           {"RemoteRoundTrips", list(IsObserved(excerpt, place, Phase::Remote),
                                     count(&TrafficBucket::remoteRoundTrips))},
           {"DatabaseRoundTrips", list(IsObserved(excerpt, place, Phase::Database),
                                       count(&TrafficBucket::databaseRoundTrips))},
           {"Phases", ListPhases(
                          [&](Phase phase)
                          {
                            return list(IsObserved(excerpt, place, phase),
                                        [phase](const TrafficBucket& traffic)
                                        { return traffic.GetSeconds(phase); });
                          })}});
    }


    Json::Value Describe(const TuningAuthor& author)
    {
      return MakeObject({{"Origin", author.address.empty() ? "Internal" : "RestApi"},
                         {"Address", IfAny(author.address)},
                         {"User", IfAny(author.user)}});
    }


    Json::Value Describe(const TuningChange& change)
    {
      return MakeObject({{"Time", ToJson(change.time)},
                         {"Change", change.change},
                         {"Undo", change.undo},
                         {"By", Describe(change.author)}});
    }
  }


  void RegisterHistoryResource(RestRouter& router, History& history, const TuningStore& tuning)
  {
    const auto get = [&history, &tuning](const RestRequest& request)
    {
      const auto resolution = GetChoice<HistoryResolution>(request, "resolution");
      const HistoryExcerpt excerpt =
          history.Read(resolution.value_or(HistoryResolution::Second), GetSince(request));
      const auto begin = std::chrono::system_clock::from_time_t(excerpt.begin);
      const auto list = [&excerpt](auto member)
      {
        return ListJson(excerpt.points,
                        [=](const HistoryPoint& point) { return Json::Value(point.*member); });
      };
      return AnswerCompactJson(MakeObject(
          {{"Resolution", static_cast<Json::Int64>(excerpt.resolution.count())},
           {"Begin", ToJson(begin)},
           {"Receive", Describe(excerpt, static_cast<std::size_t>(Direction::Receive))},
           {"Send", Describe(excerpt, static_cast<std::size_t>(Direction::Send))},
           {"Serve", Describe(excerpt, SERVE)},
           {"Associations", list(&HistoryPoint::associations)},
           {"FailedCalls", list(&HistoryPoint::failedCalls)},
           {"BudgetHeld", list(&HistoryPoint::budgetHeld)},
           {"BudgetWaiting", list(&HistoryPoint::budgetWaiting)},
           {"BudgetWaited", list(&HistoryPoint::budgetWaited)},
           {"TuningChanges", ListJson(tuning.GetChanges(begin), [](const TuningChange& change)
                                      { return Describe(change); })}}));
    };

    router.Register("/perf/history", HttpMethod::Get,
                    "The last hour by the second or the last day by the minute, for charts", get);
  }
}
