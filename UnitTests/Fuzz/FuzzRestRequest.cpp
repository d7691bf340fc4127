// SPDX-License-Identifier: GPL-3.0-or-later
// Any text as a request to /perf, with its query string, headers and body, and as the names that
// strangers have given themselves: it is answered, with JSON or metrics that can be read; no page
// of another server changes anything.
#include "Advisor/Advisor.h"
#include "Advisor/Evidence.h"
#include "Advisor/Rule.h"
#include "Answers/AnswerCompression.h"
#include "Fuzz/Require.h"
#include "Metrics/History.h"
#include "Metrics/MetricTable.h"
#include "Rest/Comparison.h"
#include "Rest/Resources.h"
#include "Rest/RestRouter.h"
#include "Transcoding/FakeEngine.h"
#include "Tuning/Json.h"
#include "Tuning/TuningReader.h"

#include <json/json.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace OrthancPerf;

namespace
{
  const std::string PASSWORD = "Basic YWxpY2U6c2VjcmV0";  // alice:secret

  Engines MakeFakeEngines()
  {
    Engines engines;
    engines.push_back(std::make_unique<FakeEngine>("dcmtk"));
    return engines;
  }

  // What has no name of a stranger in it, and takes megabytes or seconds. Lives as long as the
  // program.
  struct Server
  {
    EngineDirectory engines{MakeFakeEngines()};
    ConnectionTracker connections;
    Journal nobody{{}};
    InstanceTracker tracker{nobody, connections};
    ServerTraffic traffic;
    Probe probe{{}, connections};
    AnswerCompression answers;
    PluginLock lock;
    PluginState state;
    History history{[]
                    {
                      return std::chrono::system_clock::time_point(std::chrono::hours(1));
                    }};
    const std::vector<Rule> rules = MakeAllRules();
    const std::vector<DashboardFile> dashboard = {{"index.html", "text/html", "<p>", "1"},
                                                  {"app.js", "text/javascript", "0;", "2"}};
  };

  Server& GetServer()
  {
    static Server server;
    return server;
  }

  // What a peer says of itself, and an engine of an image: any bytes, made printable as they are
  // where they come in; and what became of instances
  struct Stranger
  {
    std::string name;
    std::string address;
    std::string title;
    std::string version;
    std::string reason;
    std::string figures;

    unsigned int GetFigure(std::size_t place) const
    {
      return figures.empty() ? 1 : static_cast<std::uint8_t>(figures[place % figures.size()]);
    }

    FinishedInstance MakeInstance() const
    {
      FinishedInstance instance;
      instance.instanceId = std::to_string(GetFigure(0));
      instance.direction = GetAllDirections().at(GetFigure(1) % 2);
      instance.origin = GetAllOrigins().at(GetFigure(1) / 2 % GetAllOrigins().size());
      instance.outcome = GetAllOutcomes().at(GetFigure(2) % OUTCOME_COUNT);
      instance.peer = {name, address};
      instance.size = std::size_t(GetFigure(3)) << 12;
      instance.areStallsObserved = GetFigure(4) % 2 != 0;
      instance.stalls = GetFigure(4);
      instance.stallTime = std::chrono::milliseconds(40 * GetFigure(4));
      std::size_t place = 5;

      for (const Phase phase : GetAllPhases())
      {
        if (GetFigure(place++) % 4 != 0)
        {
          instance.phases.Add(phase, std::chrono::milliseconds(GetFigure(place)));
        }
      }

      instance.transcoding.emplace();
      instance.transcoding->outcome = "failed";
      instance.transcoding->reason = reason;
      return instance;
    }

    std::vector<OpenAssociation> ListOpen() const
    {
      OpenAssociation open;
      open.isAccepted = true;
      open.peer = {title, address};
      open.parties = {title, name, version, {}};
      return {open};
    }
  };

  // All routes
  struct Routes
  {
    explicit Routes(const Stranger& known) : stranger(known)
    {
      Server& server = GetServer();

      for (unsigned int i = 0; i <= stranger.GetFigure(0) % 32; i++)
      {
        journal.Publish(stranger.MakeInstance());
      }

      Snapshot snapshot;
      snapshot.associations = stranger.ListOpen();
      evidence.Look(snapshot);

      RegisterInstancesResource(router, instances);
      RegisterPeersResource(router, peers);
      RegisterHistoryResource(router, server.history, store);
      RegisterTuningResource(router, {store, Json::objectValue, true, {}});
      router.Register("/perf/transcoding/compare", HttpMethod::Post, "",
                      [](const RestRequest& request)
                      {
                        const auto wanted = ComparisonRequest::Read(request.body);
                        Require(IsPrintable(wanted.resource));
                        return AnswerJson(wanted.resource);
                      });
      RegisterAdviceResource(router, advisor);
      RegisterMetricsResource(router, [this] { return GatherMetrics(); });
      RegisterStatusResource(router, {Json::objectValue,
                                      {},
                                      server.state,
                                      server.tracker,
                                      server.traffic,
                                      store,
                                      true,
                                      server.probe,
                                      server.answers,
                                      server.connections,
                                      {server.engines, failures, server.lock, [] { return true; },
                                       []
                                       {
                                         return std::string();
                                       }}});
      RegisterDashboardResource(router, server.dashboard);
    }

    MetricFigures GatherMetrics()
    {
      MetricFigures figures;
      static_cast<ServerTotals&>(figures) = traffic.GetTotals();
      figures.peers = peers.Summarize();
      return figures;
    }

    const Stranger stranger;
    RecentInstances instances{2};
    PeerStatistics peers{2, [this]
                         {
                           return stranger.ListOpen();
                         }};
    ServerTraffic traffic;
    EvidenceCollector evidence{peers, 4};
    Journal journal{{&instances, &peers, &traffic, &evidence}};
    EngineFailures failures{[](const std::string&) {
    }};
    std::optional<std::string> saved;
    TuningStore store{Tuning(),
                      TuningPersistence{[this] { return saved; },
                                        [this](const std::string& text)
                                        {
                                          saved = text;
                                        }},
                      {},
                      {},
                      [](const std::string& line)
                      {
                        Require(!line.empty() && IsPrintable(line));
                      }};
    Advisor advisor{[this]
                    {
                      Evidence all = evidence.Gather();
                      all.tuning = *store.Get();
                      return all;
                    },
                    GetServer().rules};
    RestRouter router;
  };

  // By lines: the method and the path, the query string, headers, an empty line, the body
  RestRequest ReadRequest(const std::string& text)
  {
    const std::vector<std::string> paths = {
        "/perf/instances",           "/perf/peers",  "/perf/history",   "/perf/tuning",
        "/perf/transcoding/compare", "/perf/status", "/perf/metrics",   "/perf/advice",
        "/perf/advice/history",      "/perf",        "/perf/app/app.js"};
    std::istringstream stream(text);
    std::string begin;
    std::getline(stream, begin);
    RestRequest request;
    request.method = static_cast<HttpMethod>(begin.empty() ? 1 : 1 + (begin[0] & 3));
    request.path = begin.size() < 2 ? begin : paths[(begin[1] & 0xff) % paths.size()];

    std::string query;
    std::getline(stream, query);
    std::istringstream pairs(query);

    for (std::string pair; std::getline(pairs, pair, '&') && !pair.empty();)
    {
      const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
      request.arguments[DecodeQuery(pair.substr(0, equals))] = DecodeQuery(pair.substr(equals + 1));
    }

    for (std::string line; std::getline(stream, line) && !line.empty();)
    {
      const std::size_t colon = std::min(line.find(':'), line.size() - 1);
      request.headers[line.substr(0, colon)] = line.substr(colon + 1);
    }

    request.body.assign(std::istreambuf_iterator<char>(stream), {});
    return request;
  }

  // All of it is in headers of this target's own
  Stranger ReadStranger(const RestRequest& request)
  {
    const auto read = [&request](const char* header)
    {
      return DecodeQuery(request.GetHeader(header).value_or(""));
    };
    return {MakePrintable(read("name")),   MakePrintable(read("address")),
            MakePrintable(read("title")),  MakePrintable(read("version")),
            MakePrintable(read("reason")), read("figures")};
  }

  void CheckAnswer(const RestAnswer& answer)
  {
    const bool isError = answer.status >= 400;
    Require(answer.status == 200 || answer.status == 304 || (isError && answer.status < 500));

    for (const auto& [name, value] : answer.headers)
    {
      Require(IsPrintable(name) && IsPrintable(value));
    }

    Require(std::all_of(answer.body.begin(), answer.body.end(),
                        [](char c) { return c == '\n' || (c >= ' ' && c <= '~'); }));

    if (isError || answer.contentType == "application/json")
    {
      const Json::Value body = ParseJson(answer.body.data(), answer.body.size());
      Require(!isError || IsPrintable(body["Message"].asString()));
    }
  }

  // No page of another server changes anything; the history can say who has; and what is shown is
  // put again, and read again after a restart, without a change
  void CheckChange(Routes& routes, const RestRequest& request)
  {
    Require(request.method != HttpMethod::Get);
    Require(request.GetHeader("sec-fetch-site") != "cross-site");
    RestRequest history;
    history.path = "/perf/history";
    CheckAnswer(routes.router.Serve(history));

    const Tuning tuning = *routes.store.Get();
    Require(*routes.store.Merge(ToJson(tuning)).tuning == tuning);
    TuningStore again(Tuning(), TuningPersistence{[&] { return routes.saved; }, {}}, {});
    Require(*again.Load().tuning == tuning);
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  RestRequest request = ReadRequest({reinterpret_cast<const char*>(data), size});
  Require(request.GetUser().empty());  // from inside
  request.address = "10.0.0.9";
  Require(request.GetHeader("authorization") != PASSWORD || request.GetUser() == "alice");

  Routes routes(ReadStranger(request));
  const auto before = routes.store.Get();
  CheckAnswer(routes.router.Serve(request));

  if (routes.store.Get() != before)
  {
    CheckChange(routes, request);
  }

  return 0;
}
