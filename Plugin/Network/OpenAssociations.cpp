// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/OpenAssociations.h"

#include "Network/Sockets/TcpInfo.h"

#include <algorithm>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <utility>

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


    OpenAssociation Describe(const ConnectionTable::Summary& summary,
                             const MessageRecorder& recorder, TimePoint now)
    {
      OpenAssociation association;
      association.direction =
          summary.kind == ConnectionKind::DicomOutgoing ? Direction::Send : Direction::Receive;
      association.isAccepted = recorder.IsAccepted(summary.fd);
      association.parties = recorder.GetParties(summary.fd);
      association.peer.name = association.direction == Direction::Receive
                                  ? association.parties.callingTitle
                                  : association.parties.calledTitle;
      association.peer.address = summary.peer.ToString();

      if (summary.isEncrypted && association.peer.name.empty())
      {
        association.peer.name = association.peer.address;
      }

      association.age = std::max(now - summary.openedAt, Duration::zero());  // opened since
      association.bytesReceived = summary.bytesRead;
      association.bytesSent = summary.bytesWritten;

      association.unread = CountUnread(summary.fd);
      association.tcp = ReadTcpInfo(summary.fd);
      return association;
    }


    // What is read of each open connection
    template <typename Open, typename Read>
    std::vector<Open> ReadAll(const ConnectionTable& table, Read read)
    {
      std::vector<Open> all;

      for (const ConnectionTable::Summary& summary : table.GetOpen())
      {
        Open open = read(summary);

        if (table.IsOpen(summary))  // else its descriptor may be another connection's by now
        {
          all.push_back(std::move(open));
        }
      }

      return all;
    }
  }


  std::vector<OpenConnection> GetOpenConnections(const Probe& probe,
                                                 const MessageRecorder& recorder, TimePoint now)
  {
    return ReadAll<OpenConnection>(
        probe.GetConnections(),
        [&](const ConnectionTable::Summary& summary) {
          return OpenConnection{Describe(summary, recorder, now), ReadSocketOptions(summary.fd)};
        });
  }


  std::vector<OpenAssociation> GetOpenAssociations(const Probe& probe,
                                                   const MessageRecorder& recorder, TimePoint now)
  {
    return ReadAll<OpenAssociation>(probe.GetConnections(),
                                    [&](const ConnectionTable::Summary& summary)
                                    { return Describe(summary, recorder, now); });
  }
}
