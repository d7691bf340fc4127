// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

#include "Rest/RestJson.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // The end of the year 9999, beyond which no clock goes
    constexpr std::uint64_t LATEST = 253402300799;


    // The clock counts nanoseconds, which end in the year 2262
    std::chrono::system_clock::time_point ToMoment(UnixSeconds time)
    {
      using std::chrono::seconds;
      using std::chrono::system_clock;

      const auto end = std::chrono::duration_cast<seconds>(system_clock::duration::max());
      return system_clock::time_point(std::min(seconds(time), end));
    }


    HistoryResolution GetResolution(const RestRequest& request)
    {
      const std::string text = GetArgument(request, "resolution").value_or("second");

      if (text == "second")
      {
        return HistoryResolution::Second;
      }

      if (text == "minute")
      {
        return HistoryResolution::Minute;
      }

      throw MakeArgumentError("resolution", text, "second or minute");
    }


    bool IsObserved(const HistoryExcerpt& excerpt, std::size_t direction, Phase phase)
    {
      return std::any_of(excerpt.points.begin(), excerpt.points.end(),
                         [=](const HistoryPoint& point)
                         { return point.directions[direction].IsObserved(phase); });
    }


    Json::Value DescribePhases(const HistoryExcerpt& excerpt, std::size_t direction)
    {
      Json::Value json = Json::objectValue;

      for (const Phase phase : GetAllPhases())
      {
        if (IsObserved(excerpt, direction, phase))
        {
          json[ToKey(ToLabel(phase))] =
              ListJson(excerpt.points, [=](const HistoryPoint& point)
                       { return Json::Value(point.directions[direction].GetSeconds(phase)); });
        }
      }

      return json;
    }


    Json::Value Describe(const HistoryExcerpt& excerpt, Direction direction)
    {
      const auto place = static_cast<std::size_t>(direction);
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
      using std::chrono::seconds;

      Json::Value json;
      json["Time"] = static_cast<Json::Int64>(
          std::chrono::duration_cast<seconds>(change.time.time_since_epoch()).count());
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
      const std::uint64_t since = GetInteger(request, "since", LATEST).value_or(0);
      const HistoryExcerpt excerpt =
          history.Read(GetResolution(request), static_cast<UnixSeconds>(since));

      Json::Value answer;
      answer["Resolution"] = static_cast<Json::Int64>(excerpt.resolution.count());
      answer["Begin"] = static_cast<Json::Int64>(excerpt.begin);
      answer["Receive"] = Describe(excerpt, Direction::Receive);
      answer["Send"] = Describe(excerpt, Direction::Send);
      answer["Associations"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                        { return Json::Value(point.associations); });
      answer["BudgetHeld"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                      { return ToJson(point.budgetHeld); });
      answer["BudgetWaiting"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                         { return Json::Value(point.budgetWaiting); });
      answer["BudgetWaited"] = ListJson(excerpt.points, [](const HistoryPoint& point)
                                        { return Json::Value(point.budgetWaited); });
      answer["TuningChanges"] =
          ListJson(changes.GetSince(ToMoment(excerpt.begin)),
                   [](const TuningChange& change) { return Describe(change); });
      return AnswerCompactJson(answer);
    };

    router.Register("/perf/history", HttpMethod::Get,
                    "The last hour by the second or the last day by the minute, for charts", get,
                    {"resolution", "since"});
  }
}
