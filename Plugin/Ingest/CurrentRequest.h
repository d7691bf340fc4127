// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/MessageSource.h"

#include <optional>
#include <string>

namespace OrthancPerf
{
  // The HTTP request that a thread of Orthanc works at, as far as it is known. A value of
  // IngestThread, under its mutex.
  struct CurrentRequest
  {
    // Orthanc has told of a request from this address, in the message "current"
    void Begin(const std::string& from, const std::optional<Message>& current, TimePoint now);

    // Orthanc tells of HTTP only, and not of all: it asks no filter where a plugin's token lets a
    // request in (OrthancPluginGenerateRestApiAuthorizationToken). What comes in another message
    // than the known one is of such a request, or of none.
    void BeginIfNew(const std::optional<Message>& current);

    std::string address;
    std::optional<TimePoint> mark;     // begin of what it reads, or end of its last instance
    std::optional<MessageId> message;  // the latest that may be its; nothing: not seen
  };
}
