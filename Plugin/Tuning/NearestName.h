// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The number of characters to insert, delete or replace to get from one text to the other
  // (Levenshtein's distance), upper and lower case being the same. Only the first
  // MAXIMUM_COMPARED characters count: the texts come from strangers.
  std::size_t GetEditDistance(const std::string& a, const std::string& b);

  constexpr std::size_t MAXIMUM_COMPARED = 64;

  // The path among the known ones that the name most likely meant: the name is compared with each
  // path ("DicomSockets.TcpNoDelay") and with its last part ("TcpNoDelay"). The first one wins
  // among equals. There must be at least one path.
  const std::string& FindNearestPath(const std::string& name,
                                     const std::vector<std::string>& paths);
}
