// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/CurrentRequest.h"

#include <algorithm>

namespace OrthancPerf
{
  void CurrentRequest::Begin(const std::string& from, const std::optional<Message>& current,
                             TimePoint now)
  {
    address = from;
    mark = current ? std::min(current->firstByte, now) : now;
    message.reset();

    if (current)
    {
      // Under TLS, its body may look like a message of its own: after an interim response that was
      // taken for the final one
      message = current->id;
      message->serial += current->isEncrypted ? 1 : 0;
    }
  }


  void CurrentRequest::BeginIfNew(const std::optional<Message>& current)
  {
    const bool wasSeen = message.has_value();
    const bool isKnown = wasSeen && current && message->connection == current->id.connection &&
                         message->serial >= current->id.serial;

    if (current)
    {
      message = current->id;
    }

    if (isKnown || (!current && !wasSeen))
    {
      return;
    }

    address = current ? current->peer.address : "";
    mark = current ? std::optional<TimePoint>(current->firstByte) : std::nullopt;
  }
}
