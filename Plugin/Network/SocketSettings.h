// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What to do with a socket's receive or send buffer
  struct BufferSetting
  {
    enum class Mode
    {
      Leave,      // whatever the application and the system do
      Automatic,  // the kernel's autotuning, whatever the application asks for
      Fixed
    };

    Mode mode = Mode::Leave;
    std::uint32_t bytes = 0;  // for Fixed; as an application sees it (the kernel doubles it)

    static BufferSetting Automatic()
    {
      return {Mode::Automatic, 0};
    }

    static BufferSetting Fixed(std::uint32_t bytes)
    {
      return {Mode::Fixed, bytes};
    }

    bool operator==(const BufferSetting& other) const
    {
      return mode == other.mode && bytes == other.bytes;
    }
  };

  // The options of tcp(7) and socket(7) that DICOM connections are to have. By default nothing is
  // touched. A value.
  struct SocketSettings
  {
    // At most this many characters name a congestion control (TCP_CA_NAME_MAX, linux/tcp.h, less
    // the final zero)
    static constexpr std::size_t MAXIMUM_CONGESTION_CONTROL = 15;

    std::optional<bool> noDelay;                      // TCP_NODELAY; nothing: left as it is
    bool quickAck = false;                            // acknowledge before waiting (TCP_QUICKACK)
    BufferSetting receiveBuffer;                      // SO_RCVBUF
    BufferSetting sendBuffer;                         // SO_SNDBUF
    std::optional<std::chrono::seconds> keepAlive;    // idle time and interval; zero: off
    std::optional<std::chrono::seconds> userTimeout;  // TCP_USER_TIMEOUT; zero: the system's
    std::string congestionControl;                    // TCP_CONGESTION; empty: the system's

    bool operator==(const SocketSettings& other) const;
  };

  // The settings in force, written by whoever tunes and read by the hooks at every call: readers
  // take no lock and allocate nothing (a congestion control's name fits into std::string's own
  // storage), they repeat the read if a writer was at it. Any thread; owned by the probe.
  class SharedSocketSettings
  {
  public:
    SharedSocketSettings();

    // Throws std::invalid_argument if the name of the congestion control is too long
    void Set(const SocketSettings& settings);

    SocketSettings Get() const noexcept;

    // Another number after each Set(), never zero. Whoever sees it gets that Set()'s settings, or
    // later ones, from a Get() that follows.
    std::uint32_t GetRevision() const noexcept
    {
      return revision_.load(std::memory_order_acquire);
    }

    // Those that matter at every wait, without the rest
    bool IsQuickAck() const noexcept
    {
      return isQuickAck_.load(std::memory_order_relaxed);
    }

    bool IsNoDelay() const noexcept
    {
      return isNoDelay_.load(std::memory_order_relaxed);
    }

  private:
    using Words = std::array<std::uint64_t, 7>;

    static Words Pack(const SocketSettings& settings);
    static SocketSettings Unpack(const Words& words) noexcept;

    std::mutex writers_;
    std::atomic<std::uint32_t> sequence_ = 0;  // odd while a writer is at it
    std::array<std::atomic<std::uint64_t>, 7> words_;
    std::atomic<bool> isQuickAck_ = false;
    std::atomic<bool> isNoDelay_ = false;
    std::atomic<std::uint32_t> revision_ = 1;
  };
}
