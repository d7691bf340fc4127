// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <optional>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace OrthancPerf
{
  // A peer's place in the directory, the same until Orthanc stops
  using PeerIndex = std::size_t;

  // What the peers beyond the bound are called together
  constexpr const char* OTHER_PEERS = "other";

  // The peers that are told apart, in a set that is bounded because strangers can invent as many
  // names as they like ("MaximumPeers"). First come, first served: a name that finds no place is
  // "other", as is a peer that calls itself so.
  //
  // A place is never given to another name. Replacing a peer that has been silent for long would
  // let a stranger push out a modality that works at night only, and would make the label sets
  // of Prometheus come and go. What keeps places for the known ones is Reserve().
  //
  // Owned by the plugin's context; any thread may call it. A known peer costs one lookup under a
  // shared lock; only a new name takes the lock alone, at most "maximumPeers" times in all.
  class PeerDirectory
  {
  public:
    explicit PeerDirectory(std::size_t maximumPeers);

    // Gives places to these names before strangers can take them all: the modalities of Orthanc's
    // configuration. In their order, as long as there are places.
    void Reserve(const std::vector<std::string>& names);

    // The place of the peer, which is given one if there is any left. Nothing if the name is
    // empty: the peer is not known. The name goes through MakePrintable() if it has not yet.
    std::optional<PeerIndex> Resolve(const std::string& name);

    // The name at this place: a peer's or "other". Throws std::out_of_range if nobody has it.
    std::string GetName(PeerIndex index) const;

    // All places are below this: one for each of the maximum of peers, and one for the others
    std::size_t GetCapacity() const
    {
      return maximumPeers_ + 1;
    }

    // The place that all others share
    PeerIndex GetOthers() const
    {
      return maximumPeers_;
    }

  private:
    std::optional<PeerIndex> Find(const std::string& name) const;
    bool IsFull() const;
    PeerIndex Add(const std::string& name);

    const std::size_t maximumPeers_;
    mutable std::shared_mutex mutex_;
    std::unordered_map<std::string, PeerIndex> places_;
    std::vector<std::string> names_;
  };
}
