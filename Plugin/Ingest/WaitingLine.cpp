// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/WaitingLine.h"

#include <algorithm>

namespace OrthancPerf
{
  void WaitingLine::SetPlaces(std::uint64_t ofDicom, std::uint64_t ofHttp) noexcept
  {
    places_[DICOM].store(ofDicom);
    places_[HTTP].store(ofHttp);
  }


  bool WaitingLine::IsFull(const Waiter& waiter, Server server) const noexcept
  {
    return !waiter.isInLine && inLine_[server] >= places_[server].load();
  }


  void WaitingLine::BeginWait(Waiter& waiter, Server server, TimePoint now) noexcept
  {
    waiter.waitingSince = now;
    waiter.isWaiting.store(true);
    waiting_.fetch_add(1);

    if (!waiter.isInLine)
    {
      waiter.isInLine = true;
      waiter.server = server;
      inLine_[server]++;
    }

    if (!waiter.hasWaited)
    {
      waiter.hasWaited = true;
      waits_++;
    }
  }


  Duration WaitingLine::EndWait(Waiter& waiter, TimePoint now) noexcept
  {
    if (!waiter.isWaiting.load())
    {
      return Duration::zero();
    }

    const Duration waited = now - waiter.waitingSince;
    waiter.waited += waited;
    waited_ += waited;
    waiter.isWaiting.store(false);
    waiting_.fetch_sub(1);
    return waited;
  }


  void WaitingLine::Leave(Waiter& waiter) noexcept
  {
    if (waiter.isInLine)
    {
      waiter.isInLine = false;
      inLine_[waiter.server]--;
    }
  }


  // A wait that ends may have looked at the clock before, and a counter never falls
  Duration WaitingLine::TellWaited(Duration underWay) noexcept
  {
    told_ = std::max(told_, waited_ + underWay);
    return told_;
  }
}
