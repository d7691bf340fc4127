// SPDX-License-Identifier: GPL-3.0-or-later
// Any text as a request to /perf, with its query string, headers and body: it is answered, with
// JSON that can be read; nobody is taken for another user or another address, and no page of
// another server changes anything.
#include "Metrics/History.h"
#include "Rest/CompareRequest.h"
#include "Rest/HistoryResource.h"
#include "Rest/InstancesResource.h"
#include "Rest/MetricsUsers.h"
#include "Rest/PeersResource.h"
#include "Rest/QueryArguments.h"
#include "Rest/RequestSenders.h"
#include "Rest/TuningResource.h"
#include "Tuning/ParseJson.h"
#include "Tuning/TextListKind.h"

#include <json/json.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

using namespace OrthancPerf;

namespace
{
  const std::string PROXY = "127.0.0.1";
  const std::string PASSWORD = "Basic YWxpY2U6c2VjcmV0";  // alice:secret
  const std::string SCRAPER = "Basic c2NyYXBlcjp4";       // scraper:x


  void Require(bool condition)
  {
    if (!condition)
    {
      std::abort();
    }
  }


  bool IsPrintable(const std::string& text)
  {
    return std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c <= '~'; });
  }


  Json::Value MakeConfiguration()
  {
    Json::Value configuration;
    configuration["AuthenticationEnabled"] = true;
    configuration["RegisteredUsers"]["alice"] = "secret";
    return configuration;
  }


  // The routes that take arguments or a body. Everything of it lives as long as the program.
  struct Routes
  {
    Routes()
    {
      RegisterInstancesResource(router, instances, identifiers);
      RegisterPeersResource(router, peers);
      RegisterHistoryResource(router, history, noChanges);
      RegisterTuningResource(router, {store, changes, Json::objectValue, {false, {"alice"}}, {}});
      router.Register(
          "/perf/transcoding/compare", HttpMethod::Post, "",
          [](const RestRequest& request)
          {
            const CompareRequest read = ReadCompareRequest(request.body, {"dcmtk", "gdcm"});
            Require(!read.engines.empty() && !read.targets.empty());
            Json::Value answer;
            answer["Resource"] = read.resource;
            return AnswerJson(answer);
          });
      router.Ignore({"token"});
    }

    RecentInstances instances{1};
    StoreLookups lookups;
    SentIdentifiers identifiers{lookups, 1};
    PeerDirectory directory{1};
    PeerStatistics peers{directory};
    History history{[]
                    {
                      return std::chrono::system_clock::time_point(std::chrono::hours(1));
                    }};
    TuningChanges changes{[](const std::string& line)
                          {
                            Require(!line.empty());
                          }};
    TuningChanges noChanges{[](const std::string&) {
    }};  // so that no answer grows
    TuningStore store{Tuning(), nullptr, {}};
    RestRouter router;
  };


  const RequestSenders SENDERS = {RegisteredUsers(MakeConfiguration()),
                                  TrustedProxies({PROXY, "::1"})};


  // By lines: the method and the path, the query string, headers, an empty line, the body
  class Text
  {
  public:
    explicit Text(std::string text) : text_(std::move(text))
    {
    }

    std::string TakeUntil(char end)
    {
      const std::size_t found = std::min(text_.find(end, position_), text_.size());
      const std::string taken = text_.substr(position_, found - position_);
      position_ = std::min(found + 1, text_.size());
      return taken;
    }

    std::string TakeRest()
    {
      return text_.substr(position_);
    }

  private:
    const std::string text_;
    std::size_t position_ = 0;
  };


  RestRequest ReadRequest(Text text)
  {
    const std::vector<std::string> paths = {"/perf/instances", "/perf/peers", "/perf/history",
                                            "/perf/tuning", "/perf/transcoding/compare"};
    const std::string begin = text.TakeUntil('\n');
    RestRequest request;
    request.method = static_cast<HttpMethod>(begin.empty() ? 0 : begin[0] & 3);
    request.path = begin.size() < 2 ? begin : paths[(begin[1] & 0xff) % paths.size()];

    Text query(text.TakeUntil('\n'));
    for (std::string pair = query.TakeUntil('&'); !pair.empty(); pair = query.TakeUntil('&'))
    {
      const std::size_t equals = std::min(pair.find('='), pair.size() - 1);
      request.arguments[DecodeQuery(pair.substr(0, equals))] = DecodeQuery(pair.substr(equals + 1));
    }

    for (std::string line = text.TakeUntil('\n'); !line.empty(); line = text.TakeUntil('\n'))
    {
      const std::size_t colon = std::min(line.find(':'), line.size() - 1);
      request.headers[line.substr(0, colon)] = line.substr(colon + 1);
    }

    request.body = text.TakeRest();
    return request;
  }
}


extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static Routes routes;
  static const MetricsUsers scrapers({"scraper"});
  RestRequest request = ReadRequest(Text(std::string(reinterpret_cast<const char*>(data), size)));
  const std::string authorization = request.GetHeader("authorization").value_or("");

  SENDERS.Identify(request, "10.0.0.9");
  Require(request.address == "10.0.0.9" && request.proxy.empty());
  SENDERS.Identify(request, PROXY);
  Require(!request.address.empty() && NormalizeIpAddress(request.address) == request.address);
  Require(request.user.empty() || request.user == "alice");
  Require(authorization != PASSWORD || request.user == "alice");
  Require(authorization != SCRAPER || !scrapers.Allow(request.method, request.path, authorization));

  routes.store.Reset();
  const auto before = routes.store.Get();
  const RestAnswer answer = routes.router.Serve(request);
  const bool isChanged = routes.store.Get() != before;
  Require(answer.status == 200 || (answer.status >= 400 && answer.status < 500));
  Require(!isChanged || (request.user == "alice" && request.method != HttpMethod::Get));
  Require(!isChanged || request.GetHeader("sec-fetch-site") != "cross-site");

  const Json::Value body = ParseJson(answer.body.data(), answer.body.size());
  Require(answer.status == 200 || IsPrintable(body["Error"].asString()));
  return 0;
}
