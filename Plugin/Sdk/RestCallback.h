// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestRouter.h"

#include <orthanc/OrthancCPlugin.h>

#include <string>

namespace OrthancPerf
{
  // Serves a request that Orthanc hands to the plugin: translates it, lets the router answer, and
  // gives the answer back. Any HTTP thread. Throws nothing but for lack of memory.
  void ServeRestCallback(OrthancPluginContext* context, const RestRouter& router,
                         OrthancPluginRestOutput* output, const char* url,
                         const OrthancPluginHttpRequest& request);


  // The address of the client whose request this thread is to serve: Orthanc tells it to the
  // filter, but not to the callback that serves. It calls both on the same thread. Any thread.

  // The filter has let a request on
  void NotePendingRequest(const char* uri, const char* address) noexcept;

  // The address of the client, once; empty if the request that is served comes from inside Orthanc
  // (a script, another plugin): such a request is not filtered.
  std::string TakePendingAddress();

  // Whether this thread is one of Orthanc's HTTP server: a request was let on here before
  bool ServesHttp() noexcept;
}
