// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Sockets/SettingsTrial.h"

#include "Redirection/FileDescriptor.h"

#include <cerrno>
#include <fstream>
#include <netinet/in.h>
#include <sys/socket.h>
#include <system_error>

namespace OrthancPerf
{
  namespace
  {
    // "; it has reno cubic", or nothing if the kernel does not tell (ip-sysctl.rst)
    std::string ListCongestionControls()
    {
      std::ifstream file("/proc/sys/net/ipv4/tcp_available_congestion_control");
      std::string names;
      return std::getline(file, names) ? "; it has " + names : std::string();
    }
  }


  SettingsTrial SettingsTrial::Run(const DicomSockets& settings)
  {
    const FileDescriptor socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));

    if (socket.Get() < 0)
    {
      return {{},
              {"Preset: no socket could be made to try it on: " +
               std::generic_category().message(errno)}};
    }

    const TuningResult result = ApplySocketSettings(socket.Get(), settings);
    SettingsTrial trial;
    trial.inForce = ReadSocketOptions(socket.Get());

    for (const auto& [key, error] : {std::pair{"TcpNoDelay", result.noDelay},
                                     {"ReceiveBuffer", result.receiveBuffer},
                                     {"SendBuffer", result.sendBuffer},
                                     {"KeepAliveSeconds", result.keepAlive},
                                     {"UserTimeoutSeconds", result.userTimeout},
                                     {"CongestionControl", result.congestionControl}})
    {
      if (error != 0)
      {
        trial.problems.push_back(std::string(key) + ": the kernel refuses it (" +
                                 std::generic_category().message(error) + ")");
      }
    }

    if (result.congestionControl != 0)
    {
      trial.problems.back() += ListCongestionControls();
    }

    // The kernel doubles what it is asked for, and caps it before (socket(7), SO_RCVBUF)
    const auto checkCap = [&trial](const char* key, const char* limit, const SocketBuffer& setting,
                                   const std::optional<std::uint32_t>& inForce)
    {
      if (setting.mode == SocketBuffer::Mode::Fixed && inForce && *inForce / 2 < setting.bytes)
      {
        trial.problems.push_back(std::string(key) + ": " + std::to_string(setting.bytes) +
                                 " bytes are asked for, " + std::to_string(*inForce / 2) +
                                 " are in force: the kernel's limit is " + limit);
      }
    };

    checkCap("ReceiveBuffer", "net.core.rmem_max", settings.receiveBuffer,
             trial.inForce.receiveBuffer);
    checkCap("SendBuffer", "net.core.wmem_max", settings.sendBuffer, trial.inForce.sendBuffer);
    return trial;
  }
}
