// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Network/MessageRecorder.h"
#include "Network/Sockets/SocketTuning.h"

#include <vector>

namespace OrthancPerf
{
  // A DICOM connection that is open now, and the options that its socket has
  struct OpenConnection
  {
    OpenAssociation association;
    SocketOptions options;
  };

  // All DICOM connections that are open now. Any thread; what closes meanwhile is left out.
  std::vector<OpenConnection> GetOpenConnections(const MessageRecorder& recorder, TimePoint now);

  // The same without the options
  std::vector<OpenAssociation> GetOpenAssociations(const MessageRecorder& recorder, TimePoint now);
}
