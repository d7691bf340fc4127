// SPDX-License-Identifier: GPL-3.0-or-later
#include "Allocations.h"
#include "Network/ConnectionTracker.h"
#include "Network/Probe.h"
#include "Network/Sockets/StockSockets.h"
#include "Network/TcpPair.h"
#include "Redirection/CallerModule.h"

#include <array>
#include <gtest/gtest.h>
#include <poll.h>

// Sanitizers bring their own allocation functions: then this test is left out.
#if !defined(PERF_SANITIZED)

namespace OrthancPerf
{
  namespace
  {
    // An association and an outgoing one, as Orthanc's modules would call libc
    class Visitor
    {
    public:
      explicit Visitor(const CallerModule& caller) :
        read_(caller.Get<decltype(::read)>("CallerRead")),
        write_(caller.Get<decltype(::write)>("CallerWrite")),
        poll_(caller.Get<int(pollfd*, nfds_t, int)>("CallerPoll")),
        set_(caller.Get<decltype(::setsockopt)>("CallerSetSockOpt")),
        close_(caller.Get<int(int)>("CallerClose"))
      {
      }

      // Allocations by the calls themselves
      std::size_t Serve(TcpPair& pair, const std::string& request,
                        const std::string& response) const
      {
        SendAll(pair.GetClient(), request);
        std::array<char, 1000> buffer = {};
        pollfd wait = {-1, POLLIN, 0};
        const int value = 65536;

        const std::size_t before = Allocations::count;
        const int fd = pair.GetServer();
        wait.fd = fd;
        set_(fd, SOL_SOCKET, SO_RCVBUF, &value, sizeof(value));
        poll_(&wait, 1, 1000);
        read_(fd, buffer.data(), 6);
        read_(fd, buffer.data(), buffer.size());
        write_(fd, response.data(), response.size());
        poll_(&wait, 1, 1);  // in vain
        close_(fd);
        const std::size_t after = Allocations::count;

        pair.ReleaseServer();
        return after - before;
      }

      std::size_t Call(TcpPair& pair, const std::string& request) const
      {
        const std::size_t before = Allocations::count;
        write_(pair.GetClient(), request.data(), request.size());
        close_(pair.GetClient());
        const std::size_t after = Allocations::count;

        pair.ReleaseClient();
        return after - before;
      }

    private:
      decltype(::read)* const read_;
      decltype(::write)* const write_;
      int (*const poll_)(pollfd*, nfds_t, int);
      decltype(::setsockopt)* const set_;
      int (*const close_)(int);
    };

    // DICOM PS3.8 section 9.3.2, without any item
    const std::string REQUEST = std::string("\x01\x00\x00\x00\x00\x44\x00\x01\x00\x00", 10) +
                                "SINK            ORTHANC         " + std::string(32, '\0');
    const std::string ACCEPT = std::string("\x02\x00\x00\x00\x00\x44", 6) + std::string(68, '\0');
  }

  TEST(HookAllocation, NoHookAllocatesFromTheFirstCallOn)
  {
    const CallerModule caller;
    const Visitor visitor(caller);
    auto* accept = caller.Get<TcpPair::Accept>("CallerAccept");
    auto* connect = caller.Get<TcpPair::Connect>("CallerConnect");

    for (int i = 0; i < 3; i++)
    {
      TcpPair incoming(accept);
      WatchedPlaces places;
      places.dicomPort = incoming.GetPort();
      ConnectionTracker tracker;
      Probe probe(places, tracker, &CallerModule::IsCaller);

      DicomSockets settings = MakeStock();
      settings.tcpNoDelay = true;
      settings.tcpQuickAck = true;
      settings.receiveBuffer = SocketBuffer();
      settings.congestionControl = "fifteen--letter";  // no longer one is there
      probe.SetSettings(settings);
      ASSERT_TRUE(probe.Install()) << probe.GetProblem();

      EXPECT_EQ(0U, visitor.Serve(incoming, REQUEST, ACCEPT));

      TcpPair outgoing(&::accept, connect);
      EXPECT_EQ(0U, visitor.Call(outgoing, REQUEST));

      const Journal nobody({});
      tracker.events.Drain(nobody);
      EXPECT_EQ(0U, tracker.events.CountDropped());
    }
  }

  TEST(HookAllocation, TheCounterCounts)
  {
    const std::size_t before = Allocations::count;
    const auto number = std::make_unique<int>(1);
    EXPECT_EQ(before + 1, Allocations::count);
  }
}

#endif
