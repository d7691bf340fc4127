// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/RestCallback.h"

#include <array>
#include <cstring>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Longer than any IPv6 address with its zone
    using Address = std::array<char, 64>;

    // Needs no destructor: Orthanc's threads may outlive the plugin
    thread_local Address pending = {};
    thread_local bool servesHttp = false;

    static_assert(static_cast<int>(HttpMethod::Get) == OrthancPluginHttpMethod_Get);
    static_assert(static_cast<int>(HttpMethod::Delete) == OrthancPluginHttpMethod_Delete);

    // While this thread serves another route, a script or a plugin may ask for one of ours
    bool IsBelowPerf(const char* uri)
    {
      const char* const path = uri + std::strspn(uri, "/");
      return std::strncmp(path, "perf", 4) == 0;
    }

    // Orthanc leaves the decoding of the query string to its HTTP server, and civetweb does it by
    // itself up to 1.14, since then only if asked to. Orthanc asks since it is distributed with
    // civetweb 1.16. Before, with Debian's (12: 1.15, 13: 1.16), nobody does it.
    bool IsQueryDecoded(OrthancPluginContext* context)
    {
      return OrthancPluginCheckVersionAdvanced(context, 1, 12, 10) == 1;
    }

    // An older Orthanc with an older civetweb decodes as well: there, and only there, a value that
    // has an escape in itself is decoded twice.
    std::map<std::string, std::string> GetArguments(OrthancPluginContext* context,
                                                    const OrthancPluginHttpRequest& source)
    {
      const bool isDecoded = IsQueryDecoded(context);
      std::map<std::string, std::string> arguments;

      for (std::uint32_t i = 0; i < source.getCount; i++)
      {
        arguments[isDecoded ? source.getKeys[i] : DecodeQuery(source.getKeys[i])] =
            isDecoded ? source.getValues[i] : DecodeQuery(source.getValues[i]);
      }

      return arguments;
    }

    // "/perf/" is "/perf". Orthanc does not tell which of the two was asked for, and a browser
    // looks for the files of a page at "/perf/" one level deeper.
    std::string Normalize(const std::string& path)
    {
      const std::string deeper = "/perf/perf/app/";

      if (path.compare(0, deeper.size(), deeper) == 0)
      {
        return path.substr(std::string("/perf").size());
      }

      return path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
    }

    RestRequest ToRequest(OrthancPluginContext* context, const char* url,
                          const OrthancPluginHttpRequest& source)
    {
      RestRequest request;
      request.method = static_cast<HttpMethod>(source.method);
      request.path = Normalize(url);
      request.arguments = GetArguments(context, source);

      for (std::uint32_t i = 0; i < source.headersCount; i++)
      {
        request.headers[source.headersKeys[i]] = source.headersValues[i];
      }

      // Once: a request from inside Orthanc (a script, another plugin) is not filtered
      request.address = std::exchange(pending, {}).data();

      if (source.bodySize > 0)
      {
        request.body.assign(static_cast<const char*>(source.body), source.bodySize);
      }

      return request;
    }
  }

  void ServeRestCallback(OrthancPluginContext* context, const RestRouter& router,
                         OrthancPluginRestOutput* output, const char* url,
                         const OrthancPluginHttpRequest& source)
  {
    const RestRequest request = ToRequest(context, url, source);
    const RestAnswer answer = router.Serve(request);

    for (const auto& [key, value] : answer.headers)
    {
      OrthancPluginSetHttpHeader(context, output, key.c_str(), value.c_str());
    }

    if (answer.status == 405)
    {
      // Orthanc accepts this status by its own function only, which sends no body
      const std::string allowed = router.GetAllowedMethods(request.path);
      OrthancPluginSendMethodNotAllowed(context, output, allowed.c_str());
    }
    else if (answer.status == 200)
    {
      OrthancPluginAnswerBuffer(context, output, answer.body.data(),
                                static_cast<std::uint32_t>(answer.body.size()),
                                answer.contentType.c_str());
    }
    else
    {
      OrthancPluginSetHttpHeader(context, output, "Content-Type", answer.contentType.c_str());
      OrthancPluginSendHttpStatus(context, output, static_cast<std::uint16_t>(answer.status),
                                  answer.body.data(),
                                  static_cast<std::uint32_t>(answer.body.size()));
    }
  }

  void NotePendingRequest(const char* uri, const char* address) noexcept
  {
    pending = {};
    servesHttp = true;

    if (uri != nullptr && IsBelowPerf(uri))
    {
      std::strncpy(pending.data(), address == nullptr || *address == 0 ? "unknown" : address,
                   pending.size() - 1);
    }
  }

  bool ServesHttp() noexcept
  {
    return servesHttp;
  }
}
