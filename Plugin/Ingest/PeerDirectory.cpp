// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PeerDirectory.h"

#include "Ingest/FinishedInstance.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  PeerDirectory::PeerDirectory(std::size_t maximumPeers, Now now) :
    maximumPeers_(maximumPeers),
    now_(std::move(now))
  {
    tenants_.reserve(maximumPeers_);
  }

  void PeerDirectory::SetModalities(const std::vector<std::string>& titles)
  {
    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);

    for (Tenant& tenant : tenants_)
    {
      tenant.isModality = false;
    }

    // The known ones first, so that no modality takes over the place of another one
    for (const bool mayAdd : {false, true})
    {
      for (const std::string& title : titles)
      {
        const std::string name = MakePrintable(title);
        std::optional<std::size_t> index = Find(name);

        if (!index && mayAdd && !name.empty() && name != OTHER_PEERS)
        {
          index = Add(name, now, Duration::min());
        }

        if (index)
        {
          tenants_[*index].isModality = true;
        }
      }
    }
  }

  std::optional<PeerPlace> PeerDirectory::Resolve(const std::string& name, PeerSign sign)
  {
    const std::string printable = MakePrintable(name);

    if (printable.empty())
    {
      return std::nullopt;
    }

    if (printable == OTHER_PEERS)
    {
      return GetOthers();
    }

    const TimePoint now = now_();
    const std::lock_guard lock(mutex_);
    std::optional<std::size_t> index = Find(printable);

    if (!index && sign != PeerSign::Asked)
    {
      index = Add(printable, now, KEPT);
    }

    if (!index)
    {
      return GetOthers();
    }

    Tenant& tenant = tenants_[*index];
    tenant.lastInstance = sign == PeerSign::Instance ? now : tenant.lastInstance;
    return PeerPlace{*index, tenant.number};
  }

  std::optional<std::string> PeerDirectory::FindName(const PeerPlace& place) const
  {
    if (place == GetOthers())
    {
      return OTHER_PEERS;
    }

    const std::lock_guard lock(mutex_);
    const bool isThere =
        place.index < tenants_.size() && tenants_[place.index].number == place.tenant;
    return isThere ? std::optional<std::string>(tenants_[place.index].name) : std::nullopt;
  }

  std::optional<std::size_t> PeerDirectory::Find(const std::string& name) const
  {
    const auto found = indexes_.find(name);
    return found != indexes_.end() ? std::optional<std::size_t>(found->second) : std::nullopt;
  }

  // A free place, or that of an unlisted peer that was without an instance for so long; nothing:
  // there is none
  std::optional<std::size_t> PeerDirectory::Add(const std::string& name, TimePoint now,
                                                Duration minimumIdle)
  {
    std::size_t index = tenants_.size();

    if (index == maximumPeers_)
    {
      const auto oldest = std::min_element(tenants_.begin(), tenants_.end(),
                                           [](const Tenant& a, const Tenant& b) {
                                             return std::tie(a.isModality, a.lastInstance) <
                                                    std::tie(b.isModality, b.lastInstance);
                                           });

      if (oldest == tenants_.end() || oldest->isModality ||
          now - oldest->lastInstance < minimumIdle)
      {
        return std::nullopt;
      }

      index = static_cast<std::size_t>(oldest - tenants_.begin());
    }

    Tenant tenant{name, tenantCount_ + 1, now, false};
    indexes_.emplace(name, index);
    tenantCount_++;

    if (index == tenants_.size())
    {
      tenants_.push_back(std::move(tenant));  // has room, and cannot fail
    }
    else
    {
      indexes_.erase(tenants_[index].name);
      tenants_[index] = std::move(tenant);
    }

    return index;
  }
}
