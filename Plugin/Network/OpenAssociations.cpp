// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/OpenAssociations.h"

#include "Network/TcpInfo.h"

#include <linux/sockios.h>
#include <sys/ioctl.h>

namespace OrthancPerf
{
  namespace
  {
    // tcp(7), SIOCINQ
    std::optional<std::uint32_t> CountUnread(int fd)
    {
      int count = 0;

      if (ioctl(fd, SIOCINQ, &count) != 0 || count < 0)
      {
        return std::nullopt;
      }

      return static_cast<std::uint32_t>(count);
    }


    OpenConnection Describe(const ConnectionTable::Summary& summary,
                            const MessageRecorder& recorder, TimePoint now)
    {
      OpenConnection open;
      OpenAssociation& association = open.association;
      association.direction =
          summary.kind == ConnectionKind::DicomOutgoing ? Direction::Send : Direction::Receive;
      association.parties = recorder.GetParties(summary.fd);
      association.peer.name = association.direction == Direction::Receive
                                  ? association.parties.callingTitle
                                  : association.parties.calledTitle;
      association.peer.address = summary.peer.ToString();

      if (summary.isEncrypted)
      {
        association.peer.name = association.peer.address;
      }

      association.age = now - summary.openedAt;
      association.bytesReceived = summary.bytesRead;
      association.bytesSent = summary.bytesWritten;

      association.unread = CountUnread(summary.fd);
      association.tcp = ReadTcpInfo(summary.fd);
      open.options = ReadSocketOptions(summary.fd);
      return open;
    }
  }


  std::vector<OpenConnection> GetOpenConnections(const Probe& probe,
                                                 const MessageRecorder& recorder, TimePoint now)
  {
    const ConnectionTable& table = probe.GetConnections();
    std::vector<OpenConnection> connections;

    for (const ConnectionTable::Summary& summary : table.GetOpen())
    {
      OpenConnection open = Describe(summary, recorder, now);

      if (table.IsOpen(summary))  // else its descriptor may be another connection's by now
      {
        connections.push_back(std::move(open));
      }
    }

    return connections;
  }


  std::vector<OpenAssociation> GetOpenAssociations(const Probe& probe,
                                                   const MessageRecorder& recorder, TimePoint now)
  {
    std::vector<OpenAssociation> associations;

    for (OpenConnection& open : GetOpenConnections(probe, recorder, now))
    {
      associations.push_back(std::move(open.association));
    }

    return associations;
  }
}
