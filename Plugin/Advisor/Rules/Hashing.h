// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"

namespace OrthancPerf
{
  // An estimate of the time that MD5 takes, in seconds of all instances together: a core does some
  // 500 MB/s ("openssl speed md5" on processors of the last ten years gives 450 to 750), and it
  // lies inside the phase "prepare". 0 if it is switched off.
  double EstimateMd5(const TrafficSums& traffic, const ServerFacts& facts);
}
