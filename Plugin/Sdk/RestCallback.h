// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestRouter.h"

#include <orthanc/OrthancCPlugin.h>

namespace OrthancPerf
{
  HttpMethod ToHttpMethod(OrthancPluginHttpMethod method);

  // Serves a request that Orthanc hands to the plugin: translates it, lets the router answer, and
  // gives the answer back. Any HTTP thread. Throws nothing but for lack of memory.
  void ServeRestCallback(OrthancPluginContext* context, const RestRouter& router,
                         OrthancPluginRestOutput* output, const char* url,
                         const OrthancPluginHttpRequest& request);
}
