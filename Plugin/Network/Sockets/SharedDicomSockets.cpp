// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SharedDicomSockets.h"

#include <cstring>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    std::uint64_t PackBuffer(const SocketBuffer& buffer)
    {
      return (static_cast<std::uint64_t>(buffer.mode) << 32U) |
             static_cast<std::uint32_t>(buffer.bytes);
    }

    SocketBuffer UnpackBuffer(std::uint64_t word)
    {
      return {static_cast<SocketBuffer::Mode>(word >> 32U), static_cast<std::uint32_t>(word)};
    }
  }

  SharedDicomSockets::SharedDicomSockets()
  {
    Set(GetPresetValues(SocketPreset::Stock).value());
  }

  void SharedDicomSockets::Set(const DicomSockets& settings)
  {
    if (settings.congestionControl.size() > MAXIMUM_CONGESTION_CONTROL)
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
  }

  DicomSockets SharedDicomSockets::Get() const noexcept
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

  SharedDicomSockets::Words SharedDicomSockets::Pack(const DicomSockets& settings)
  {
    Words words = {};
    words[0] = (settings.tcpNoDelay ? NO_DELAY : 0) | (settings.tcpQuickAck ? QUICK_ACK : 0);
    words[1] = PackBuffer(settings.receiveBuffer);
    words[2] = PackBuffer(settings.sendBuffer);
    words[3] = static_cast<std::uint64_t>(settings.keepAlive.count());
    words[4] = static_cast<std::uint64_t>(settings.userTimeout.count());
    std::memcpy(&words[5], settings.congestionControl.data(), settings.congestionControl.size());
    return words;
  }

  DicomSockets SharedDicomSockets::Unpack(const Words& words) noexcept
  {
    DicomSockets settings;
    settings.tcpNoDelay = (words[0] & NO_DELAY) != 0;
    settings.tcpQuickAck = (words[0] & QUICK_ACK) != 0;
    settings.receiveBuffer = UnpackBuffer(words[1]);
    settings.sendBuffer = UnpackBuffer(words[2]);
    settings.keepAlive = std::chrono::seconds(words[3]);
    settings.userTimeout = std::chrono::seconds(words[4]);

    std::array<char, MAXIMUM_CONGESTION_CONTROL + 1> name = {};
    std::memcpy(name.data(), &words[5], name.size() - 1);
    settings.congestionControl = name.data();
    return settings;
  }
}
