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


    HistoryResolution GetResolution(const RestRequest& request)
    {
      constexpr std::array ALL = {HistoryResolution::Second, HistoryResolution::Minute};
      return GetChoice<HistoryResolution>(
                 request, "resolution", ALL,
                 [](HistoryResolution resolution)
                 { return resolution == HistoryResolution::Second ? "second" : "minute"; })
          .value_or(HistoryResolution::Second);
    }


    bool IsObserved(const HistoryExcerpt& excerpt, std::size_t direction, Phase phase)
    {
      return std::any_of(excerpt.points.begin(), excerpt.points.end(),
                         [=](const HistoryPoint& point)
                         { return point.directions[direction].IsObserved(phase); });
    }


    Json::Value DescribePhases(const HistoryExcerpt& excerpt, std::size_t direction)
    {
      return ListPhases(
          [&excerpt, direction](Phase phase)
          {
            return IsObserved(excerpt, direction, phase)
                       ? std::make_optional(ListJson(
                             excerpt.points,
                             [=](const HistoryPoint& point) {
                               return Json::Value(point.directions[direction].GetSeconds(phase));
                             }))
                       : std::nullopt;
          });
    }


    Json::Value Describe(const HistoryExcerpt& excerpt, std::size_t place)
    {
      const auto list = [&excerpt, place](auto member)
      {
        return ListJson(excerpt.points, [=](const HistoryPoint& point)
                        { return ToCount(point.directions[place].*member); });
      };

      Json::Value json;
      json["Instances"] = list(&TrafficBucket::instances);
      json["Bytes"] = list(&TrafficBucket::bytes);
      json["Failed"] =
          ListJson(excerpt.points, [=](const HistoryPoint& point)
                   { return ToCount(point.directions[place].GetOutcome(Outcome::Failed)); });

      if (excerpt.areStallsObserved[place])
      {
        json["Stalls"] = list(&TrafficBucket::stalls);
        json["StallSeconds"] =
            ListJson(excerpt.points, [=](const HistoryPoint& point)
                     { return Json::Value(point.directions[place].stallSeconds); });
      }

      if (IsObserved(excerpt, place, Phase::Remote))
      {
        json["RemoteRoundTrips"] = list(&TrafficBucket::remoteRoundTrips);
      }

      if (IsObserved(excerpt, place, Phase::Database))
      {
        json["DatabaseRoundTrips"] = list(&TrafficBucket::databaseRoundTrips);
      }

      json["Phases"] = DescribePhases(excerpt, place);
      return json;
    }


    Json::Value Describe(const TuningAuthor& author)
    {
      Json::Value json;
      json["Origin"] = author.address.empty() ? "Internal" : "RestApi";
      AddText(json, "Address", author.address);
      AddText(json, "User", author.user);
      return json;
    }


    Json::Value Describe(const TuningChange& change)
    {
      Json::Value json;
      json["Time"] = ToJson(change.time);
      json["Change"] = change.change;
      json["Undo"] = change.undo;
      json["By"] = Describe(change.author);
      return json;
    }
  }


  void RegisterHistoryResource(RestRouter& router, History& history, const TuningChanges& changes)
  {
    const auto get = [&history, &changes](const RestRequest& request)
    {
      const HistoryExcerpt excerpt = history.Read(GetResolution(request), GetSince(request));
      const auto begin = std::chrono::system_clock::from_time_t(excerpt.begin);

      Json::Value answer;
      answer["Resolution"] = static_cast<Json::Int64>(excerpt.resolution.count());
      answer["Begin"] = ToJson(begin);

      for (std::size_t i = 0; i < TRAFFIC_COUNT; i++)
      {
        answer[TRAFFIC_KEYS[i]] = Describe(excerpt, i);
      }

      answer["Associations"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                        { return Json::Value(point.associations); });
      answer["BudgetHeld"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                      { return ToJson(point.budgetHeld); });
      answer["BudgetWaiting"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                         { return Json::Value(point.budgetWaiting); });
      answer["BudgetWaited"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                        { return Json::Value(point.budgetWaited); });
      answer["TuningChanges"] = ListJson(changes.GetSince(begin), [](const TuningChange& change)
                                         { return Describe(change); });
      return AnswerCompactJson(answer);
    };

    router.Register("/perf/history", HttpMethod::Get,
                    "The last hour by the second or the last day by the minute, for charts", get);
  }
}
