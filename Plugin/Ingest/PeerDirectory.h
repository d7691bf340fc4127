// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace OrthancPerf
{
  // What the peers without a place of their own are called together
  constexpr const char* OTHER_PEERS = "other";

  // What a peer has done
  enum class PeerSign
  {
    Asked,     // for an association that Orthanc has not accepted, or not yet
    Accepted,  // Orthanc has accepted its association
    Instance   // an instance was received from it, or sent to it
  };

  constexpr PeerSign GetSign(bool isAccepted)
  {
    return isAccepted ? PeerSign::Accepted : PeerSign::Asked;
  }

  // A place in the directory, and which of the peers that had it one after the other
  struct PeerPlace
  {
    std::size_t index = 0;
    std::uint64_t tenant = 0;

    bool operator==(const PeerPlace& other) const
    {
      return index == other.index && tenant == other.tenant;
    }

    bool operator<(const PeerPlace& other) const
    {
      return std::tie(index, tenant) < std::tie(other.index, other.tenant);
    }
  };

  // The peers that are told apart. There are at most "MaximumPeers" of them, because strangers can
  // invent as many names as they like; all others share the name "other", as does a peer that
  // calls itself so.
  //
  // A peer gets a place with its first accepted association or instance. In a full directory it
  // takes over the place that has been without an instance for the longest time, an hour at least.
  // Orthanc's modalities have a place before anyone else, and nobody takes it over.
  //
  // Whoever keeps a record for a place keeps its PeerPlace as well: a record of an earlier tenant
  // is to be forgotten, not continued.
  //
  // Owned by the plugin's context; any thread may call it. It takes a lock of its own and calls
  // nobody.
  class PeerDirectory
  {
  public:
    using Now = std::function<TimePoint()>;

    // So long without an instance, an unlisted peer keeps its place
    static constexpr Duration KEPT = std::chrono::hours(1);

    explicit PeerDirectory(std::size_t maximumPeers, Now now = &Clock::now);

    // These are Orthanc's modalities from now on. Each has a place, at the cost of peers that are
    // none, as long as there are places.
    void SetModalities(const std::vector<std::string>& titles);

    // The place of the peer. Nothing if the name is empty: the peer is not known. The name goes
    // through MakePrintable() if it has not yet.
    std::optional<PeerPlace> Resolve(const std::string& name, PeerSign sign);

    // A peer's name, or "other"; nothing if another peer has taken over the place
    std::optional<std::string> FindName(const PeerPlace& place) const;

    // All indexes are below this: one for each of the maximum of peers, and one for the others
    std::size_t GetCapacity() const
    {
      return maximumPeers_ + 1;
    }

    // The place that all others share
    PeerPlace GetOthers() const
    {
      return {maximumPeers_, 0};
    }

  private:
    struct Tenant
    {
      std::string name;
      std::uint64_t number;
      TimePoint lastInstance;  // or when it got its place
      bool isModality;
    };

    // With the lock held
    std::optional<std::size_t> Find(const std::string& name) const;
    std::optional<std::size_t> Add(const std::string& name, TimePoint now, Duration minimumIdle);

    const std::size_t maximumPeers_;
    const Now now_;
    mutable std::mutex mutex_;
    std::unordered_map<std::string, std::size_t> indexes_;  // by name
    std::vector<Tenant> tenants_;
    std::uint64_t tenantCount_ = 0;
  };
}
