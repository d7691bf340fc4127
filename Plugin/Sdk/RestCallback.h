// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestRouter.h"

#include <orthanc/OrthancCPlugin.h>

namespace OrthancPerf
{
  // Serves a request that Orthanc hands to the plugin: translates it, lets the router answer, and
  // gives the answer back. Any HTTP thread. Throws nothing but for lack of memory.
  void ServeRestCallback(OrthancPluginContext* context, const RestRouter& router,
                         OrthancPluginRestOutput* output, const char* url,
                         const OrthancPluginHttpRequest& request);

  // The filter has let a request on. Orthanc tells the client's address to the filter, but not to
  // the callback that serves; it calls both on the same thread.
  void NotePendingRequest(const char* uri, const char* address) noexcept;

  // Whether this thread is one of Orthanc's HTTP server: a request was let on here before
  bool ServesHttp() noexcept;
}
