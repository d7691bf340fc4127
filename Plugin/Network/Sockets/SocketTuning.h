// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Tuning/TuningDocument.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The settings that are options of the kernel, and for each of them the value of errno, if it was
  // not done as asked; 0: done. A buffer that the kernel capped at net.core.rmem_max or wmem_max
  // (socket(7)) is no error: the options in force tell.
  constexpr std::array<const char*, 6> SOCKET_KEYS = {"TcpNoDelay",         "ReceiveBuffer",
                                                      "SendBuffer",         "KeepAliveSeconds",
                                                      "UserTimeoutSeconds", "CongestionControl"};
  using SocketErrors = std::array<int, SOCKET_KEYS.size()>;

  // Sets the options of a connected or listening TCP socket (Linux lets accepted sockets inherit
  // all of them but quick ACK). Buffers "automatic": SO_BUF_LOCK (Linux 5.14) lifts what
  // SO_RCVBUF or SO_SNDBUF fixed, also during a transfer, and autotuning goes on from there; older
  // kernels cannot undo it and answer ENOPROTOOPT, so that there the application must be kept
  // from setting it (IsOverridden). An empty congestion control leaves the socket's. Keeps errno,
  // allocates nothing, any thread.
  SocketErrors ApplySocketSettings(int fd, const DicomSockets& settings) noexcept;

  // The options in force
  SocketOptions ReadSocketOptions(int fd);

  // Acknowledges now what was received and not acknowledged yet, and leaves the delayed
  // ("pingpong") mode: tcp(7), TCP_QUICKACK. Keeps errno.
  void AcknowledgeNow(int fd) noexcept;

  // Whether the application may not set this option any more, because the settings do: a buffer
  // that is not "default", TCP_NODELAY if they switch it on, and every other option of theirs
  bool IsOverridden(const DicomSockets& settings, int level, int option) noexcept;

  // What this machine's kernel makes of socket settings: what is in force then, and one line for
  // each option that was capped or refused. A value.
  struct SettingsTrial
  {
    SocketOptions inForce;
    std::vector<std::string> problems;
  };

  // Finds that out on a socket that is never connected. Any thread.
  SettingsTrial TrySocketSettings(const DicomSockets& settings);

  // What DCMTK does to its sockets by its two environment variables (file envvars.txt of its
  // documentation; DUL_... in dul.cc and dulfsm.cc): this is what a DICOM socket goes back to when
  // the plugin no longer sets an option. A value.
  struct DcmtkEnvironment
  {
    bool noDelay = false;                       // TCP_NODELAY; what DCMTK does of its own accord,
                                                // as in official builds, its sockets tell
    std::optional<std::uint32_t> bufferLength;  // TCP_BUFFER_LENGTH; absent: the system's

    // From the values of the two variables, null where one is not set
    static DcmtkEnvironment Parse(const char* noDelay, const char* bufferLength);
  };

  // The file descriptor of this process's TCP socket that listens on the port; nothing if there
  // is none. For options that accepted sockets inherit, where the probe is not installed. Looks
  // through /proc/self/fd; any thread.
  std::optional<int> FindListeningSocket(std::uint16_t port);
}
