// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/PeerDirectory.h"

#include "Ingest/FinishedInstance.h"

#include <mutex>

namespace OrthancPerf
{
  PeerDirectory::PeerDirectory(std::size_t maximumPeers) : maximumPeers_(maximumPeers)
  {
    places_.emplace(OTHER_PEERS, GetOthers());
  }

  void PeerDirectory::Reserve(const std::vector<std::string>& names)
  {
    for (const std::string& name : names)
    {
      Resolve(name);
    }
  }

  std::optional<PeerIndex> PeerDirectory::Resolve(const std::string& name)
  {
    if (name.empty())
    {
      return std::nullopt;
    }

    if (const std::optional<PeerIndex> place = Find(name))
    {
      return place;
    }

    const std::string printable = MakePrintable(name);

    if (printable.empty())
    {
      return std::nullopt;
    }

    if (const std::optional<PeerIndex> place = Find(printable))
    {
      return place;
    }

    // Another thread may have given it the last place since the look; a full directory stays as it
    // is
    return IsFull() ? Find(printable).value_or(GetOthers()) : Add(printable);
  }

  std::string PeerDirectory::GetName(PeerIndex index) const
  {
    const std::shared_lock lock(mutex_);
    return index == GetOthers() ? OTHER_PEERS : names_.at(index);
  }

  std::optional<PeerIndex> PeerDirectory::Find(const std::string& name) const
  {
    const std::shared_lock lock(mutex_);

    if (const auto found = places_.find(name); found != places_.end())
    {
      return found->second;
    }

    return std::nullopt;
  }

  bool PeerDirectory::IsFull() const
  {
    const std::shared_lock lock(mutex_);
    return names_.size() == maximumPeers_;
  }

  PeerIndex PeerDirectory::Add(const std::string& name)
  {
    const std::unique_lock lock(mutex_);

    // Another thread may have taken the place, or the last one, since the look
    if (const auto found = places_.find(name); found != places_.end())
    {
      return found->second;
    }

    if (names_.size() == maximumPeers_)
    {
      return GetOthers();
    }

    names_.push_back(name);

    try
    {
      places_.emplace(name, names_.size() - 1);
    }
    catch (...)
    {
      names_.pop_back();
      throw;
    }

    return names_.size() - 1;
  }
}
