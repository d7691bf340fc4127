// SPDX-License-Identifier: GPL-3.0-or-later
//
// Stands in for the plugins of others that may be loaded beside the performance plugin. Its
// section of Orthanc's configuration, each key optional, says which of their hooks it takes:
//
//   "OtherPlugin" : {
//     "HoldReceived" : true,        // the received-instance callback; keeps every instance as is
//     "DiscardTitle" : "REFUSED",   // discards what this application entity sends
//     "AcceptCStore" : true,        // a C-STORE filter, which accepts everything
//     "LetAllIn" : true,            // the HTTP authentication of Orthanc 1.12.9 and newer
//     "StoreToo" : "/path/a.dcm",   // uploads this file, too, when it is told of a stored instance
//     "GiveToken" : true,           // GET /other/token answers a token for all of Orthanc
//     "TrimHeap" : true,            // GET /other/trim has the C library give back free memory
//     "StoreAfter" : 40             // holds the storage area, in memory, as an object storage that
//                                   // takes so many milliseconds to store a file
//   }
//
// An error to take a hook is logged, and keeps Orthanc from starting, as in many plugins.

#include "PluginSection.h"

#include <orthanc/OrthancCPlugin.h>

#include <json/json.h>

#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace
{
  struct State
  {
    OrthancPluginContext* context = nullptr;
    std::string discardTitle;
    std::string fileToStore;
    std::chrono::milliseconds storeAfter{0};
    std::mutex mutex;
    std::map<std::string, std::string> files;  // of the storage area, by UUID
  };

  // The SDK hands no user data to these callbacks
  State& GetState()
  {
    static State state;
    return state;
  }

  OrthancPluginReceivedInstanceAction OnReceived(OrthancPluginMemoryBuffer64*, const void*,
                                                 std::uint64_t, OrthancPluginInstanceOrigin)
  {
    return OrthancPluginReceivedInstanceAction_KeepAsIs;
  }

  std::int32_t OnFilter(const OrthancPluginDicomInstance* instance)
  {
    const State& state = GetState();
    const char* const title = OrthancPluginGetInstanceRemoteAet(state.context, instance);
    return title != nullptr && title == state.discardTitle ? 0 : 1;
  }

  std::int32_t OnCStore(std::uint16_t*, const OrthancPluginDicomInstance*)
  {
    return 1;
  }

  // On the thread that has stored the instance, as scripts in Python do
  OrthancPluginErrorCode OnStored(const OrthancPluginDicomInstance* instance, const char*)
  {
    const State& state = GetState();

    if (OrthancPluginGetInstanceOrigin(state.context, instance) !=
        OrthancPluginInstanceOrigin_Plugin)
    {
      OrthancPluginMemoryBuffer answer = {};
      OrthancPluginRestApiPost(state.context, &answer, "/instances", state.fileToStore.data(),
                               static_cast<std::uint32_t>(state.fileToStore.size()));
      OrthancPluginFreeMemoryBuffer(state.context, &answer);
    }

    return OrthancPluginErrorCode_Success;
  }

  OrthancPluginErrorCode AnswerToken(OrthancPluginRestOutput* output, const char*,
                                     const OrthancPluginHttpRequest*)
  {
    OrthancPluginContext* const context = GetState().context;
    char* const token = OrthancPluginGenerateRestApiAuthorizationToken(context);
    OrthancPluginAnswerBuffer(context, output, token,
                              static_cast<std::uint32_t>(std::strlen(token)), "text/plain");
    OrthancPluginFreeString(context, token);
    return OrthancPluginErrorCode_Success;
  }

  OrthancPluginErrorCode TrimHeap(OrthancPluginRestOutput* output, const char*,
                                  const OrthancPluginHttpRequest*)
  {
    malloc_trim(0);
    OrthancPluginAnswerBuffer(GetState().context, output, "", 0, "text/plain");
    return OrthancPluginErrorCode_Success;
  }

  // OrthancPluginHttpAuthentication, of a newer SDK
  OrthancPluginErrorCode OnAuthentication(std::int32_t* status, OrthancPluginMemoryBuffer*,
                                          OrthancPluginMemoryBuffer*, const char*, const char*,
                                          std::uint32_t, const char* const*, const char* const*,
                                          std::uint32_t, const char* const*, const char* const*)
  {
    *status = 0;  // OrthancPluginHttpAuthenticationStatus_Granted
    return OrthancPluginErrorCode_Success;
  }

  OrthancPluginErrorCode RegisterAuthentication(OrthancPluginContext* context)
  {
    const auto service = static_cast<_OrthancPluginService>(1021);
    auto* callback = &OnAuthentication;
    return context->InvokeService(context, service, &callback);
  }

  OrthancPluginErrorCode CreateFile(const char* uuid, const void* content, std::int64_t size,
                                    OrthancPluginContentType)
  {
    State& state = GetState();
    std::this_thread::sleep_for(state.storeAfter);
    const std::lock_guard lock(state.mutex);
    state.files[uuid].assign(static_cast<const char*>(content), static_cast<std::size_t>(size));
    return OrthancPluginErrorCode_Success;
  }

  OrthancPluginErrorCode ReadFile(OrthancPluginMemoryBuffer64* target, const char* uuid,
                                  OrthancPluginContentType)
  {
    State& state = GetState();
    const std::lock_guard lock(state.mutex);
    const auto found = state.files.find(uuid);

    if (found == state.files.end())
    {
      return OrthancPluginErrorCode_InexistentFile;
    }

    const std::string& file = found->second;
    const OrthancPluginErrorCode code =
        OrthancPluginCreateMemoryBuffer64(state.context, target, file.size());

    if (code == OrthancPluginErrorCode_Success)
    {
      std::memcpy(target->data, file.data(), file.size());
    }

    return code;
  }

  OrthancPluginErrorCode RemoveFile(const char* uuid, OrthancPluginContentType)
  {
    State& state = GetState();
    const std::lock_guard lock(state.mutex);
    state.files.erase(uuid);
    return OrthancPluginErrorCode_Success;
  }
}

extern "C"
{
  ORTHANC_PLUGINS_API std::int32_t OrthancPluginInitialize(OrthancPluginContext* context)
  {
    State& state = GetState();
    state.context = context;
    const Json::Value section = ReadSection(context, "OtherPlugin");
    state.discardTitle = section["DiscardTitle"].asString();
    state.storeAfter = std::chrono::milliseconds(section["StoreAfter"].asInt());

    if (state.storeAfter.count() > 0)
    {
      OrthancPluginRegisterStorageArea2(context, CreateFile, ReadFile, nullptr, RemoveFile);
    }

    if (!state.discardTitle.empty() && OrthancPluginRegisterIncomingDicomInstanceFilter(
                                           context, OnFilter) != OrthancPluginErrorCode_Success)
    {
      OrthancPluginLogError(context, "OtherPlugin: cannot register the instance filter");
      return -1;
    }

    if (const std::string path = section["StoreToo"].asString(); !path.empty())
    {
      std::ifstream file(path, std::ios::binary);
      state.fileToStore.assign(std::istreambuf_iterator<char>(file), {});
      OrthancPluginRegisterOnStoredInstanceCallback(context, OnStored);
    }

    if (section["GiveToken"].asBool())
    {
      OrthancPluginRegisterRestCallbackNoLock(context, "/other/token", AnswerToken);
    }

    if (section["TrimHeap"].asBool())
    {
      OrthancPluginRegisterRestCallbackNoLock(context, "/other/trim", TrimHeap);
    }

    if (section["AcceptCStore"].asBool() &&
        OrthancPluginRegisterIncomingCStoreInstanceFilter(context, OnCStore) !=
            OrthancPluginErrorCode_Success)
    {
      OrthancPluginLogError(context, "OtherPlugin: cannot register the C-STORE filter");
      return -1;
    }

    if (section["LetAllIn"].asBool() &&
        RegisterAuthentication(context) != OrthancPluginErrorCode_Success)
    {
      OrthancPluginLogError(context, "OtherPlugin: cannot register the HTTP authentication");
      return -1;
    }

    if (section["HoldReceived"].asBool() &&
        OrthancPluginRegisterReceivedInstanceCallback(context, OnReceived) !=
            OrthancPluginErrorCode_Success)
    {
      OrthancPluginLogError(context, "OtherPlugin: cannot register the received-instance callback");
      return -1;
    }

    return 0;
  }

  ORTHANC_PLUGINS_API void OrthancPluginFinalize()
  {
  }

  ORTHANC_PLUGINS_API const char* OrthancPluginGetName()
  {
    return "other";
  }

  ORTHANC_PLUGINS_API const char* OrthancPluginGetVersion()
  {
    return "1.0";
  }
}
