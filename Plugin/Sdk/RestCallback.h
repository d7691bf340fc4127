// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestRouter.h"

#include <orthanc/OrthancCPlugin.h>

namespace OrthancPerf
{
  // Serves a request that Orthanc hands to the plugin: translates it, lets the router answer, and
  // gives the answer back. "areUsersKnown": Orthanc itself has checked the user that the request
  // names; or else anybody could name anyone. Any HTTP thread. Throws nothing but for lack of
  // memory.
  void ServeRestCallback(OrthancPluginContext* context, const RestRouter& router,
                         OrthancPluginRestOutput* output, const char* url,
                         const OrthancPluginHttpRequest& request, bool areUsersKnown);
}
