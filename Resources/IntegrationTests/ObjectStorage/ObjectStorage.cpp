// SPDX-License-Identifier: GPL-3.0-or-later
//
// A storage area whose files are objects of an HTTP server, asked by libcurl on the thread that
// stores, over connections that are kept: as Orthanc's plugins for object storages do, without what
// each provider wants besides. Its section of Orthanc's configuration:
//
//   "ObjectStorage" : {
//     "Url" : "https://127.0.0.1:8443",  // PUT, GET and DELETE of Url/UUID
//     "Certificates" : "/ca.pem",        // who vouches for the server
//     "Keep" : true                      // connections; else each question needs a new one
//   }

#include "PluginSection.h"

#include <orthanc/OrthancCPlugin.h>

#include <curl/curl.h>
#include <json/json.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

namespace
{
  struct State
  {
    OrthancPluginContext* context = nullptr;
    std::string url;
    std::string certificates;
    bool isKept = false;
  };

  // The SDK hands no user data to these callbacks
  State& GetState()
  {
    static State state;
    return state;
  }

  // That of this thread, with its connection
  CURL* GetHandle()
  {
    static thread_local const std::unique_ptr<CURL, decltype(&curl_easy_cleanup)> handle(
        curl_easy_init(), &curl_easy_cleanup);
    curl_easy_reset(handle.get());
    curl_easy_setopt(handle.get(), CURLOPT_FORBID_REUSE, GetState().isKept ? 0L : 1L);
    return handle.get();
  }

  std::size_t GiveContent(char* target, std::size_t size, std::size_t count, void* data)
  {
    auto& rest = *static_cast<std::string_view*>(data);
    const std::size_t given = std::min(size * count, rest.size());
    std::memcpy(target, rest.data(), given);
    rest.remove_prefix(given);
    return given;
  }

  std::size_t TakeContent(const char* content, std::size_t size, std::size_t count, void* data)
  {
    static_cast<std::string*>(data)->append(content, size * count);
    return size * count;
  }

  // Whether the server did as it was asked; "answer" is what it sent
  bool Ask(CURL* curl, const char* uuid, std::string& answer)
  {
    const State& state = GetState();
    curl_easy_setopt(curl, CURLOPT_URL, (state.url + "/" + uuid).c_str());
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &TakeContent);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer);
    curl_easy_setopt(curl, CURLOPT_CAINFO, state.certificates.c_str());
    return curl_easy_perform(curl) == CURLE_OK;
  }

  OrthancPluginErrorCode CreateObject(const char* uuid, const void* content, std::int64_t size,
                                      OrthancPluginContentType)
  {
    CURL* const curl = GetHandle();
    std::string_view rest(static_cast<const char*>(content), static_cast<std::size_t>(size));
    std::string answer;
    curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
    curl_easy_setopt(curl, CURLOPT_READFUNCTION, &GiveContent);
    curl_easy_setopt(curl, CURLOPT_READDATA, &rest);
    curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, static_cast<curl_off_t>(size));
    const bool isDone = Ask(curl, uuid, answer);
    return isDone ? OrthancPluginErrorCode_Success : OrthancPluginErrorCode_CannotWriteFile;
  }

  OrthancPluginErrorCode ReadObject(OrthancPluginMemoryBuffer64* target, const char* uuid,
                                    OrthancPluginContentType)
  {
    CURL* const curl = GetHandle();
    std::string content;
    const bool isDone = Ask(curl, uuid, content);
    return isDone ? GiveFile(GetState().context, target, content)
                  : OrthancPluginErrorCode_InexistentFile;
  }

  OrthancPluginErrorCode RemoveObject(const char* uuid, OrthancPluginContentType)
  {
    CURL* const curl = GetHandle();
    std::string answer;
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, "DELETE");
    const bool isDone = Ask(curl, uuid, answer);
    return isDone ? OrthancPluginErrorCode_Success : OrthancPluginErrorCode_InexistentFile;
  }
}

extern "C"
{
  ORTHANC_PLUGINS_API std::int32_t OrthancPluginInitialize(OrthancPluginContext* context)
  {
    State& state = GetState();
    state.context = context;

    const Json::Value section = ReadSection(context, "ObjectStorage");
    state.url = section["Url"].asString();
    state.certificates = section["Certificates"].asString();
    state.isKept = section["Keep"].asBool();

    // Without a range to read, Orthanc stores what stands before the pixels as an object of its own
    OrthancPluginRegisterStorageArea2(context, CreateObject, ReadObject, nullptr, RemoveObject);
    return state.url.empty() ? -1 : 0;
  }

  ORTHANC_PLUGINS_API void OrthancPluginFinalize()
  {
  }

  ORTHANC_PLUGINS_API const char* OrthancPluginGetName()
  {
    return "objects";
  }

  ORTHANC_PLUGINS_API const char* OrthancPluginGetVersion()
  {
    return "1.0";
  }
}
