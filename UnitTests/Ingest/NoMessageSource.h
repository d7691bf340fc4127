// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/MessageSource.h"

namespace OrthancPerf
{
  // As without the probe
  class NoMessageSource : public IMessageSource
  {
  public:
    std::optional<Message> GetCurrentMessage() const override
    {
      return std::nullopt;
    }

    Response GetResponse(const MessageId&) const noexcept override
    {
      return {};
    }

    void BeginStorage(TimePoint, std::size_t) noexcept override
    {
    }

    StorageWork TakeStorageWork() override
    {
      return {};
    }
  };
}
