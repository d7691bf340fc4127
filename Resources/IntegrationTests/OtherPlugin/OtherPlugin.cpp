// SPDX-License-Identifier: GPL-3.0-or-later
//
// Stands in for the plugins of others that may be loaded beside the performance plugin. Its
// section of Orthanc's configuration, each key optional, says which of their hooks it takes:
//
//   "OtherPlugin" : {
//     "HoldReceived" : true,        // the received-instance callback; keeps every instance as is
//     "DiscardTitle" : "REFUSED"    // discards what this application entity sends
//   }
//
// An error to take a hook is logged, and keeps Orthanc from starting, as in many plugins.

#include <orthanc/OrthancCPlugin.h>

#include <json/json.h>

#include <sstream>
#include <string>

namespace
{
  struct State
  {
    OrthancPluginContext* context = nullptr;
    std::string discardTitle;
  };

  // The SDK hands no user data to these callbacks
  State& GetState()
  {
    static State state;
    return state;
  }


  Json::Value ReadSection(OrthancPluginContext* context)
  {
    char* const text = OrthancPluginGetConfiguration(context);
    Json::Value configuration;
    std::istringstream(text) >> configuration;
    OrthancPluginFreeString(context, text);
    return configuration["OtherPlugin"];
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
}


extern "C"
{
  ORTHANC_PLUGINS_API std::int32_t OrthancPluginInitialize(OrthancPluginContext* context)
  {
    State& state = GetState();
    state.context = context;
    const Json::Value section = ReadSection(context);
    state.discardTitle = section["DiscardTitle"].asString();

    if (!state.discardTitle.empty() && OrthancPluginRegisterIncomingDicomInstanceFilter(
                                           context, OnFilter) != OrthancPluginErrorCode_Success)
    {
      OrthancPluginLogError(context, "OtherPlugin: cannot register the instance filter");
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
