// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/SentIdentifiers.h"

#include <utility>

namespace OrthancPerf
{
  SentIdentifiers::SentIdentifiers(StoreLookups& lookups, std::size_t capacity, Now now) :
    lookups_(lookups),
    capacity_(capacity),
    now_(std::move(now))
  {
  }


  void SentIdentifiers::LookUp(const std::vector<UidText>& sopInstanceUids, Duration patience)
  {
    bool isAsked = false;

    for (const UidText& sopInstanceUid : sopInstanceUids)
    {
      const std::string uid = sopInstanceUid.data();

      if (IsToAsk(uid))
      {
        InstanceIdentity instance;
        instance.sopInstanceUid = sopInstanceUid;
        isAsked = true;

        if (!lookups_.Add(instance, [this, uid](const StoreAnswer& id) { OnAnswer(uid, id); }))
        {
          OnAnswer(uid, std::nullopt);
        }
      }
    }

    if (isAsked)
    {
      lookups_.WaitForAnswers(patience);
    }
  }


  std::string SentIdentifiers::Get(const UidText& sopInstanceUid) const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(sopInstanceUid.data());
    return found == known_.end() ? "" : found->second.instanceId;
  }


  bool SentIdentifiers::IsToAsk(const std::string& uid)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = known_.find(uid);
    const bool isKnown = found != known_.end() && (!found->second.instanceId.empty() ||
                                                   now_() < found->second.answeredAt + PAUSE);
    return !isKnown && asked_.size() < MAXIMUM_ASKED && asked_.insert(uid).second;
  }


  void SentIdentifiers::OnAnswer(const std::string& uid, const StoreAnswer& instanceId)
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    asked_.erase(uid);

    if (instanceId && known_.insert_or_assign(uid, Known{*instanceId, now_()}).second)
    {
      order_.push_back(uid);

      if (order_.size() > capacity_)
      {
        known_.erase(order_.front());
        order_.pop_front();
      }
    }
  }
}
