// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/RestCallback.h"

namespace OrthancPerf
{
  namespace
  {
    HttpMethod ToHttpMethod(OrthancPluginHttpMethod method)
    {
      switch (method)
      {
        case OrthancPluginHttpMethod_Post:
          return HttpMethod::Post;

        case OrthancPluginHttpMethod_Put:
          return HttpMethod::Put;

        case OrthancPluginHttpMethod_Delete:
          return HttpMethod::Delete;

        default:
          return HttpMethod::Get;
      }
    }

    std::map<std::string, std::string> ToMap(std::uint32_t count, const char* const* keys,
                                             const char* const* values)
    {
      std::map<std::string, std::string> map;
      for (std::uint32_t i = 0; i < count; i++)
      {
        map[keys[i]] = values[i];
      }
      return map;
    }

    // "/perf/" is "/perf"
    std::string WithoutTrailingSlash(const std::string& path)
    {
      return path.size() > 1 && path.back() == '/' ? path.substr(0, path.size() - 1) : path;
    }

    RestRequest ToRequest(const char* url, const OrthancPluginHttpRequest& source)
    {
      RestRequest request;
      request.method = ToHttpMethod(source.method);
      request.path = WithoutTrailingSlash(url);
      request.arguments = ToMap(source.getCount, source.getKeys, source.getValues);
      request.headers = ToMap(source.headersCount, source.headersKeys, source.headersValues);

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
    const RestRequest request = ToRequest(url, source);
    const RestAnswer answer = router.Serve(request);

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
}
