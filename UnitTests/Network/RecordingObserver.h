// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/IConnectionObserver.h"

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // Writes down what it is told, one word each
  class RecordingObserver : public IConnectionObserver
  {
  public:
    std::vector<std::string> Take()
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      return std::exchange(events_, {});
    }

    void OnOpened(Connection&, TimePoint) noexcept override
    {
      Add("opened");
    }

    void OnAssociateRequest(Connection&, const AssociateRequest& request,
                            TimePoint) noexcept override
    {
      Add("from " + MakeTrimmed(request.callingTitle.View()));
    }

    void OnAssociateAnswer(Connection&, bool isAccepted, TimePoint) noexcept override
    {
      Add(isAccepted ? "accepted" : "rejected");
    }

    void OnClosed(Connection&, AssociationOutcome outcome, TimePoint) noexcept override
    {
      Add(std::string("closed ") + ToLabel(outcome));
    }

    void OnRequestBegins(Connection&, TimePoint) noexcept override
    {
      Add("request");
    }

    void OnRequestBytes(Connection&, const std::uint8_t*, std::size_t size,
                        TimePoint) noexcept override
    {
      Add("<" + std::to_string(size));
    }

    void OnResponseBytes(Connection&, const std::uint8_t*, std::size_t size,
                         TimePoint) noexcept override
    {
      Add(">" + std::to_string(size));
    }

    void OnStall(Connection& connection, Duration waited, TimePoint) noexcept override
    {
      Add("stall " + std::to_string(waited.count() / 1000000) +
          (connection.isLossSeen ? " with loss" : ""));
    }

  private:
    static std::string MakeTrimmed(std::string_view text)
    {
      return std::string(text.substr(0, text.find(' ')));
    }

    void Add(const std::string& event)
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      events_.push_back(event);
    }

    std::mutex mutex_;
    std::vector<std::string> events_;
  };
}
