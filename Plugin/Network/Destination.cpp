// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Destination.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // More than peers have addresses, and than calls fail in a second. What is beyond takes the
    // oldest one's place.
    constexpr std::size_t MAXIMUM_KEPT = 256;


    bool IsEqual(const PeerAddress& a, const PeerAddress& b)
    {
      return a.ip == b.ip && a.port == b.port;
    }


    template <typename Value>
    void Append(std::vector<Value>& list, Value value)
    {
      if (list.size() == MAXIMUM_KEPT)
      {
        list.erase(list.begin());
      }

      list.push_back(std::move(value));
    }
  }


  void Destinations::Set(std::vector<Destination> destinations)
  {
    std::vector<std::uint8_t> owners(ports_.size());
    destinations_ = std::move(destinations);

    for (const Destination& one : destinations_)
    {
      owners[one.port] |= one.isPeer ? PEER : one.isEncrypted ? ENCRYPTED : 0;
    }

    // A port that stays is never missing meanwhile
    for (std::size_t port = 0; port < ports_.size(); port++)
    {
      ports_[port].store(owners[port], std::memory_order_relaxed);
    }
  }


  void Destinations::Learn(HostHash host, const PeerAddress& address)
  {
    const Destination* const found = FindHost(host, address.port);

    if (found == nullptr || !found->isPeer)
    {
      return;
    }

    for (Address& known : addresses_)
    {
      if (IsEqual(known.address, address))
      {
        known.host = host;
        return;
      }
    }

    Append(addresses_, {address, host});
  }


  const Destination* Destinations::Find(HostHash host, const PeerAddress& address) const
  {
    // Neither DCMTK nor libcurl looks an address up that is one already
    if (const Destination* found =
            FindHost(host != 0 ? host : HashHost(address.ToString()), address.port))
    {
      return found;
    }

    const auto known = std::find_if(addresses_.begin(), addresses_.end(),
                                    [&address](const Address& candidate)
                                    { return IsEqual(candidate.address, address); });
    return known == addresses_.end() ? nullptr : FindHost(known->host, address.port);
  }


  void Destinations::OnFailed(const Call& call, const FinishedAssociation& failure)
  {
    for (auto former = failed_.rbegin(); former != failed_.rend(); ++former)
    {
      if (former->IsContinuedBy(call, failure.peer.name))
      {
        former->call.end = std::max(former->call.end, call.end);
        former->failure = failure;
        return;
      }
    }

    Append(failed_, {call, failure});
  }


  void Destinations::OnConnected(const Call& call, const std::string& title)
  {
    const auto former = std::find_if(failed_.rbegin(), failed_.rend(),
                                     [&](const FailedCall& candidate)
                                     { return candidate.IsContinuedBy(call, title); });

    if (former != failed_.rend())
    {
      failed_.erase(std::next(former).base());
    }
  }


  std::vector<FinishedAssociation> Destinations::TakeFailed(TimePoint now)
  {
    std::vector<FinishedAssociation> taken;

    for (FailedCall& failed : failed_)
    {
      if (!failed.isTaken && now - failed.call.end >= HELD)
      {
        failed.isTaken = true;
        taken.push_back(failed.failure);
      }
    }

    return taken;
  }


  // The next address of the host. The same one again is another call.
  bool Destinations::FailedCall::IsContinuedBy(const Call& next, const std::string& title) const
  {
    return next.thread == call.thread && title == failure.peer.name &&
           !IsEqual(next.address, call.address) && next.begin - call.end < HELD;
  }


  const Destination* Destinations::FindHost(HostHash host, std::uint16_t port) const
  {
    for (const Destination& destination : destinations_)
    {
      if (destination.host == host && (port == 0 ? !destination.isPeer : destination.port == port))
      {
        return &destination;
      }
    }

    return nullptr;
  }
}
