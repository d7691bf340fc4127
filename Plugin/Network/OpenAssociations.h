// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Network/MessageRecorder.h"

#include <vector>

namespace OrthancPerf
{
  // All DICOM connections that are open now. Any thread; what closes meanwhile is left out.
  std::vector<OpenAssociation> GetOpenAssociations(const MessageRecorder& recorder, TimePoint now);
}
