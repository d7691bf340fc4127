// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/WatchedFunctions.h"

#include "Network/AskedServers.h"
#include "Network/GatheredFile.h"
#include "Network/HookContext.h"
#include "Network/Sockets/SocketTuning.h"
#include "Network/Sockets/TcpInfo.h"
#include "Network/WrittenFiles.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string_view>
#include <sys/socket.h>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    // The originals are called by name, through this module's own PLT, and never by their address:
    // in an executable without PIE that takes the address itself, the address is that of the
    // executable's PLT (System V ABI, AMD64 supplement, section 5.2 "Function Addresses"), from
    // where the redirected slot leads back into the hook. CMakeLists.txt keeps this file from
    // -fno-plt, which would make addresses of the calls.
    //
    // Neither the hooks ("On...") nor what calls an original is noexcept: most originals are places
    // at which a thread may be cancelled (pthreads(7)), as libcurl does with those that ask for an
    // address, and glibc cancels by unwinding, which noexcept turns into the end of the process. So
    // nothing is held or left half done while an original runs. Nothing here throws.
    //
    // What happens before and after an original is noexcept. It looks the connection up in the
    // context of the hooks and tells the tracker; nothing happens where there is no context, or
    // where it does not know the descriptor. It keeps errno, takes no lock, allocates nothing, and
    // never waits; but for a large message while there is a limit of memory: AdmissionQueue takes
    // its lock when that ends.

    // Of the addresses of a host
    constexpr int LOOKED_AT = 8;

    // ---- Opening --------------------------------------------------------------------------------

    void AfterAccept(int fd) noexcept
    {
      const ContextUse use;

      if (!use || fd < 0)
      {
        return;
      }

      use.CloseMessage(fd);
      const std::uint16_t localPort = PeerAddress::From(fd, &getsockname).port;
      const PeerAddress peer = PeerAddress::From(fd, &getpeername);

      if (Connection* connection = use->tracker.OnAccepted(fd, localPort, peer, Clock::now()))
      {
        use.Tune(*connection);
      }
    }

    template <auto ORIGINAL, typename... Arguments>
    int OnAccept(int fd, Arguments... arguments)
    {
      const int result = ORIGINAL(fd, arguments...);
      AfterAccept(result);
      return result;
    }

    // This host has these addresses, as getaddrinfo(3) has answered; null: it has none. DCMTK asks
    // for any service, libcurl by a thread of its own.
    void AfterLookUp(const char* host, const char* service, const addrinfo* found) noexcept
    {
      const ContextUse use;
      const HostHash hash = HashHost(host);

      if (use && found == nullptr)
      {
        PeerAddress none;
        const std::string_view port = service == nullptr ? "" : service;
        std::from_chars(port.data(), port.data() + port.size(), none.port);
        use->tracker.OnLookedUp(hash, none, false);
      }

      for (int i = 0; use && found != nullptr && i < LOOKED_AT; i++)
      {
        use->tracker.OnLookedUp(hash, PeerAddress::From(found->ai_addr, found->ai_addrlen), true);
        found = found->ai_next;
      }
    }

    int OnGetAddrInfo(const char* node, const char* service, const addrinfo* hints,
                      addrinfo** found)
    {
      const int result = ::getaddrinfo(node, service, hints, found);

      if (node != nullptr)
      {
        AfterLookUp(node, service, result == 0 ? *found : nullptr);
      }

      return result;
    }

    void BeforeConnect(int fd, const sockaddr* address, socklen_t size) noexcept
    {
      const ContextUse use;
      const PeerAddress peer = PeerAddress::From(address, size);  // port 0: neither IPv4 nor IPv6

      if (use && peer.port != 0 && GetSocketOption(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM)
      {
        use.CloseMessage(fd);
        use->tracker.OnConnecting(fd, peer, Clock::now());
      }
    }

    // A connection is made, or is not (errno(3))
    void AfterConnect(int fd, int error) noexcept
    {
      const ContextUse use;
      Connection* const connection = use.Find(fd);

      if (connection == nullptr || connection->GetKind() != ConnectionKind::OutgoingCandidate)
      {
        return;
      }

      if (error == 0)
      {
        use->tracker.OnConnected(*connection, Clock::now());
      }
      else
      {
        connection->connectError = error;
      }
    }

    int OnConnect(int fd, const sockaddr* address, socklen_t size)
    {
      BeforeConnect(fd, address, size);
      const int result = AskedServers::Follow([=] { return ::connect(fd, address, size); },
                                              [fd](AskedServers& servers, int, TimePoint from)
                                              { servers.OnConnecting(fd, from, Clock::now()); });

      if (result == 0)
      {
        AfterConnect(fd, 0);
      }
      else if (errno != EINPROGRESS && errno != EALREADY && errno != EINTR && errno != EISCONN)
      {
        AfterConnect(fd, errno);
      }

      return result;
    }

    // What became of a connect(2) that did not wait: connect(2), EINPROGRESS
    int OnGetSockOpt(int fd, int level, int option, void* value, socklen_t* size)
    {
      const int result = ::getsockopt(fd, level, option, value, size);

      if (result == 0 && level == SOL_SOCKET && option == SO_ERROR && *size == sizeof(int))
      {
        int error = 0;
        std::memcpy(&error, value, sizeof(error));
        AfterConnect(fd, error);
      }

      return result;
    }

    // False: this setsockopt(2) is not to take place, the settings in force say otherwise. What
    // Orthanc asks for is kept in mind: DCMTK of the official builds switches Nagle's algorithm
    // off.
    bool BeforeSetOption(int fd, int level, int option, const void* value,
                         std::size_t size) noexcept
    {
      const ContextUse use;
      Connection* connection = use.Find(fd);

      if (connection == nullptr)
      {
        return true;
      }

      if (level == IPPROTO_TCP && option == TCP_NODELAY && value != nullptr && size >= sizeof(int))
      {
        int number = 0;
        std::memcpy(&number, value, sizeof(number));
        connection->isNoDelayAsked = (number != 0);
      }

      return !connection->IsDicom() || !IsOverridden(use.GetSettings().sockets, level, option);
    }

    int OnSetSockOpt(int fd, int level, int option, const void* value, socklen_t size)
    {
      return BeforeSetOption(fd, level, option, value, size)
                 ? ::setsockopt(fd, level, option, value, size)
                 : 0;
    }

    // ---- Closing --------------------------------------------------------------------------------

    int OnClose(int fd)
    {
      Forget(fd);  // before the original: after it, another thread may get the descriptor

      if (AskedServers::OfThisThread().IsFollowing() && IsOwnProcess())
      {
        AskedServers::OfThisThread().OnClosing(fd);
      }

      const int result = GatheredFile::OfThisThread().EndBeforeClose(fd) == 0 ? ::close(fd) : -1;
      AfterFileClosed(fd);
      return result;
    }
  }

  void Forget(int fd) noexcept
  {
    const ContextUse use;
    Connection* connection = use.Find(fd);

    if (connection != nullptr && getpid() == use->process)
    {
      use.CloseMessage(fd);
      use->tracker.OnClosing(*connection, Clock::now());
    }
  }

  std::vector<Redirection> GetWatchedFunctions()
  {
    std::vector<Redirection> all = {
        Redirect("accept", &OnAccept<&::accept, sockaddr*, socklen_t*>),
        Redirect("accept4", &OnAccept<&::accept4, sockaddr*, socklen_t*, int>),
        Redirect("getaddrinfo", &OnGetAddrInfo),
        Redirect("connect", &OnConnect),
        Redirect("getsockopt", &OnGetSockOpt),
        Redirect("setsockopt", &OnSetSockOpt),
        Redirect("close", &OnClose)};

    for (const auto& more : {GetTransferFunctions(), GetFileFunctions()})
    {
      all.insert(all.end(), more.begin(), more.end());
    }

    return all;
  }
}
