// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/SocketSettings.h"

#include <cstring>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint64_t ABSENT = ~std::uint64_t{0};

    std::uint64_t PackBuffer(const BufferSetting& setting)
    {
      return (static_cast<std::uint64_t>(setting.mode) << 32U) | setting.bytes;
    }

    BufferSetting UnpackBuffer(std::uint64_t word)
    {
      return {static_cast<BufferSetting::Mode>(word >> 32U), static_cast<std::uint32_t>(word)};
    }

    std::uint64_t PackSeconds(const std::optional<std::chrono::seconds>& seconds)
    {
      return seconds ? static_cast<std::uint64_t>(seconds->count()) : ABSENT;
    }

    std::optional<std::chrono::seconds> UnpackSeconds(std::uint64_t word)
    {
      if (word == ABSENT)
      {
        return std::nullopt;
      }

      return std::chrono::seconds(word);
    }
  }

  bool SocketSettings::operator==(const SocketSettings& other) const
  {
    return noDelay == other.noDelay && quickAck == other.quickAck &&
           receiveBuffer == other.receiveBuffer && sendBuffer == other.sendBuffer &&
           keepAlive == other.keepAlive && userTimeout == other.userTimeout &&
           congestionControl == other.congestionControl;
  }

  SharedSocketSettings::SharedSocketSettings()
  {
    Set({});
  }

  void SharedSocketSettings::Set(const SocketSettings& settings)
  {
    if (settings.congestionControl.size() > SocketSettings::MAXIMUM_CONGESTION_CONTROL)
    {
      throw std::invalid_argument("the name of a congestion control has at most 15 characters");
    }

    const Words words = Pack(settings);
    const std::lock_guard<std::mutex> lock(writers_);

    // A sequence lock of atomics. Boehm, "Can seqlocks get along with programming language memory
    // models?", MSPC 2012: the release stores order the words after the odd number.
    sequence_.fetch_add(1, std::memory_order_relaxed);

    for (std::size_t i = 0; i < words.size(); i++)
    {
      words_[i].store(words[i], std::memory_order_release);
    }

    sequence_.fetch_add(1, std::memory_order_release);
    isQuickAck_.store(settings.quickAck, std::memory_order_relaxed);
    isNoDelay_.store(settings.noDelay.value_or(false), std::memory_order_relaxed);

    if (revision_.fetch_add(1, std::memory_order_release) + 1 == 0)
    {
      revision_.store(1, std::memory_order_release);
    }
  }

  SocketSettings SharedSocketSettings::Get() const noexcept
  {
    Words words = {};

    for (;;)
    {
      const std::uint32_t before = sequence_.load(std::memory_order_acquire);

      for (std::size_t i = 0; i < words.size(); i++)
      {
        words[i] = words_[i].load(std::memory_order_acquire);
      }

      if (before % 2 == 0 && sequence_.load(std::memory_order_relaxed) == before)
      {
        return Unpack(words);
      }
    }
  }

  SharedSocketSettings::Words SharedSocketSettings::Pack(const SocketSettings& settings)
  {
    Words words = {};
    words[0] = (settings.noDelay ? 1U : 0U) | (settings.noDelay.value_or(false) ? 2U : 0U) |
               (settings.quickAck ? 4U : 0U);
    words[1] = PackBuffer(settings.receiveBuffer);
    words[2] = PackBuffer(settings.sendBuffer);
    words[3] = PackSeconds(settings.keepAlive);
    words[4] = PackSeconds(settings.userTimeout);
    std::memcpy(&words[5], settings.congestionControl.data(), settings.congestionControl.size());
    return words;
  }

  SocketSettings SharedSocketSettings::Unpack(const Words& words) noexcept
  {
    SocketSettings settings;

    if ((words[0] & 1U) != 0)
    {
      settings.noDelay = (words[0] & 2U) != 0;
    }

    settings.quickAck = (words[0] & 4U) != 0;
    settings.receiveBuffer = UnpackBuffer(words[1]);
    settings.sendBuffer = UnpackBuffer(words[2]);
    settings.keepAlive = UnpackSeconds(words[3]);
    settings.userTimeout = UnpackSeconds(words[4]);

    std::array<char, SocketSettings::MAXIMUM_CONGESTION_CONTROL + 1> name = {};
    std::memcpy(name.data(), &words[5], name.size() - 1);
    settings.congestionControl = name.data();
    return settings;
  }
}
