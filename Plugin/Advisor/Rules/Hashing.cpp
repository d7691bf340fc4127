// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Hashing.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr double MD5_BYTES_PER_SECOND = 500e6;
  }


  double EstimateMd5(const TrafficSums& traffic, const ServerFacts& facts)
  {
    return facts.IsOn("StoreMD5ForAttachments", true)
               ? std::min(traffic.bytes / MD5_BYTES_PER_SECOND, traffic.GetSeconds(Phase::Prepare))
               : 0;
  }
}
