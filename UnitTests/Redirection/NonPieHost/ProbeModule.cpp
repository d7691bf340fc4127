// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/ConnectionTracker.h"
#include "Network/Probe.h"

#include <array>
#include <sys/socket.h>
#include <unistd.h>

// 0: with the probe installed, the executable's recv still receives
extern "C" __attribute__((visibility("default"))) int TryProbe(decltype(&recv) receive)
{
  using namespace OrthancPerf;
  std::array<int, 2> sockets = {};
  ConnectionTracker tracker;
  Probe probe({}, tracker);

  if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets.data()) != 0 || !probe.Install())
  {
    return 4;
  }

  char byte = 'x';
  const bool isWritten = write(sockets[0], &byte, 1) == 1;
  const bool isRead = receive(sockets[1], &byte, 1, 0) == 1;
  close(sockets[0]);
  close(sockets[1]);
  return isWritten && isRead ? 0 : 5;
}
