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
    if (FailedCall* const former = FindFormer(call, failure.peer.name))
    {
      former->call.end = std::max(former->call.end, call.end);
      former->failure = failure;
    }
    else
    {
      Append(failed_, {call, failure});
    }
  }


  void Destinations::OnConnected(const Call& call, const std::string& title)
  {
    if (const FailedCall* const former = FindFormer(call, title))
    {
      failed_.erase(failed_.begin() + (former - failed_.data()));
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


  // The latest one that this continues, with the next address of the host: the same one again is
  // another call. Null: there is none.
  Destinations::FailedCall* Destinations::FindFormer(const Call& call, const std::string& title)
  {
    const auto found = std::find_if(failed_.rbegin(), failed_.rend(),
                                    [&](const FailedCall& former)
                                    {
                                      return former.call.thread == call.thread &&
                                             former.failure.peer.name == title &&
                                             !IsEqual(former.call.address, call.address) &&
                                             call.begin - former.call.end < HELD;
                                    });
    return found == failed_.rend() ? nullptr : &*found;
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
