// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // From where the request comes that this thread is to serve: Orthanc tells its filter, but not
  // those who serve. Orthanc filters and serves a request on one thread. Any thread.

  // The filter has let a request on
  void NotePendingRequest(const char* uri, const char* address) noexcept;

  // The address of the client, once; empty if the request that is served comes from inside Orthanc
  // (a script, another plugin): such a request is not filtered.
  std::string TakePendingAddress();

  // Whether this thread is one of Orthanc's HTTP server: a request was let on here before
  bool ServesHttp() noexcept;
}
