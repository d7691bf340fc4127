// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Advisor/Evidence.h"

namespace OrthancPerf
{
  // An estimate of the time that MD5 takes, in seconds of all instances together. It lies inside
  // the phase "prepare", nearly all of which it is with large instances. Where Lua or compression
  // are in there too, no more is counted than a slow processor would need. 0 if it is off.
  double EstimateMd5(const TrafficSums& traffic, const ServerFacts& facts);
}
