// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"

#include <optional>

namespace OrthancPerf
{
  // Nothing if the descriptor is no TCP socket. Allocates nothing, keeps errno, any thread.
  std::optional<TcpSummary> ReadTcpInfo(int fd) noexcept;
}
