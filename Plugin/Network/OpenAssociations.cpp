// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/OpenAssociations.h"

#include "Network/Sockets/SocketTuning.h"
#include "Network/Sockets/TcpInfo.h"

#include <algorithm>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr auto RELAXED = std::memory_order_relaxed;


    OpenAssociation Describe(const Connection& connection, TimePoint now)
    {
      const bool hasParties = connection.hasParties.load(std::memory_order_acquire);
      OpenAssociation association;
      association.direction = connection.IsOutgoing() ? Direction::Send : Direction::Receive;
      association.isAccepted = connection.isAccepted.load(RELAXED);
      association.parties = hasParties ? ToParties(connection.request) : AssociationParties();
      association.peer =
          ToPeer(connection.request, hasParties, !connection.IsOutgoing(), connection.peer.Load());

      if (connection.IsEncrypted() && association.peer.name.empty())
      {
        association.peer.name = association.peer.address;
      }

      // It may be opened since "now"
      association.age = std::max(now - connection.openedAt.load(RELAXED), Duration::zero());
      association.bytesReceived = connection.bytesRead.load(RELAXED);
      association.bytesSent = connection.bytesWritten.load(RELAXED);
      association.unread = CountBytes(connection.fd, SIOCINQ);
      association.tcp = ReadTcpInfo(connection.fd);
      association.options = ReadSocketOptions(connection.fd);
      return association;
    }

  }


  std::vector<OpenAssociation> GetOpenAssociations(const MessageRecorder& recorder, TimePoint now)
  {
    std::vector<OpenAssociation> all;

    for (std::size_t i = 0; i < ConnectionTable::CAPACITY; i++)
    {
      const Connection& connection = recorder.GetConnections().At(i);
      const ConnectionKind kind = connection.kind.load(std::memory_order_acquire);
      const TimePoint openedAt = connection.openedAt.load(RELAXED);

      if (!IsDicom(kind))
      {
        continue;
      }

      OpenAssociation open = Describe(connection, now);

      // Else its descriptor may be another connection's by now
      if (connection.kind.load(std::memory_order_acquire) == kind &&
          connection.openedAt.load(RELAXED) == openedAt)
      {
        all.push_back(std::move(open));
      }
    }

    return all;
  }
}
