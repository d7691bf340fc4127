// SPDX-License-Identifier: GPL-3.0-or-later
//
// Stands in for the plugins of others that may be loaded beside the performance plugin. Its
// section of Orthanc's configuration, each key optional, says which of their hooks it takes:
//
//   "OtherPlugin" : {
//     "HoldReceived" : true,        // the received-instance callback; keeps every instance as is
//     "DiscardTitle" : "REFUSED",   // discards what this application entity sends
//     "AcceptCStore" : true,        // a C-STORE filter, which accepts everything
//     "StoreToo" : "/path/a.dcm",   // uploads this file, too, when it is told of a stored instance
//     "TrimHeap" : true             // GET /other/trim has the C library give back free memory
//   }
//
// If another plugin has the received-instance callback, it keeps Orthanc from starting, as many do.

#include "PluginSection.h"

#include <orthanc/OrthancCPlugin.h>

#include <json/json.h>

#include <fstream>
#include <iterator>
#include <malloc.h>
#include <string>

namespace
{
  struct State
  {
    OrthancPluginContext* context = nullptr;
    std::string discardTitle;
    std::string fileToStore;
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

  OrthancPluginErrorCode TrimHeap(OrthancPluginRestOutput* output, const char*,
                                  const OrthancPluginHttpRequest*)
  {
    malloc_trim(0);
    OrthancPluginAnswerBuffer(GetState().context, output, "", 0, "text/plain");
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

    if (!state.discardTitle.empty())
    {
      OrthancPluginRegisterIncomingDicomInstanceFilter(context, OnFilter);
    }

    if (const std::string path = section["StoreToo"].asString(); !path.empty())
    {
      std::ifstream file(path, std::ios::binary);
      state.fileToStore.assign(std::istreambuf_iterator<char>(file), {});
      OrthancPluginRegisterOnStoredInstanceCallback(context, OnStored);
    }

    if (section["TrimHeap"].asBool())
    {
      OrthancPluginRegisterRestCallbackNoLock(context, "/other/trim", TrimHeap);
    }

    if (section["AcceptCStore"].asBool())
    {
      OrthancPluginRegisterIncomingCStoreInstanceFilter(context, OnCStore);
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
