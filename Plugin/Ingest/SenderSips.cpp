// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/SenderSips.h"

#include <algorithm>

namespace OrthancPerf
{
  std::uint64_t SenderSips::Take(const Sender& sender, Duration waited, Duration longest) noexcept
  {
    if (sender.rest != 0 && rests_ < MOST_RESTS)
    {
      rests_++;
      return sender.rest;
    }

    if (waited < FindSilence(longest))
    {
      return 0;
    }

    const std::uint64_t least = FindLeast(longest);
    sips_++;
    return std::max(least, sender.sip);
  }


  // The seldom ones: in SILENCE, SIP altogether
  std::uint64_t SenderSips::FindLeast(Duration longest) const noexcept
  {
    const double share = static_cast<double>(longest.count()) / SILENCE.count();
    const auto sip = static_cast<std::uint64_t>(static_cast<double>(SIP) * share);
    return sips_ < FIRST_SIPS ? SIP : std::max(LEAST_SIP, sip);
  }


  // In which nothing is read of a message that waits
  Duration SenderSips::FindSilence(Duration longest) const noexcept
  {
    return sips_ < FIRST_SIPS ? std::min(longest, FIRST_SILENCE * (1U << sips_)) : longest;
  }
}
