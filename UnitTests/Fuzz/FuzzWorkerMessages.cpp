// SPDX-License-Identifier: GPL-3.0-or-later
// Any packets from a worker, whose codec libraries read the files of strangers, and any contents of
// the memory that it shares: the plugin takes them for what they are, or for no answer.
#include "Fuzz/Require.h"
#include "Transcoding/Worker/WorkerChannel.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

using namespace OrthancPerf;

namespace
{
  template <std::size_t Size>
  void CheckText(const std::array<char, Size>& field)
  {
    const std::string text = GetText(field);
    Require(text.size() <= Size && IsPrintable(text));
  }

  // What the other end sends, as far as one packet holds it, is received as a whole, or not at all
  template <typename Message>
  bool Receive(const std::string& packet, Message& message)
  {
    FileDescriptor workers;
    WorkerChannel channel(workers);
    Require(send(workers.Get(), packet.data(), packet.size(), 0) ==
            static_cast<ssize_t>(packet.size()));
    const auto receipt = channel.Receive(message, std::chrono::milliseconds(0));
    const bool isReceived = receipt == WorkerChannel::Receipt::Received;
    Require(isReceived == (packet.size() == sizeof(message)));
    return isReceived;
  }

  void TryAsHello(const std::string& packet)
  {
    WorkerHello hello;

    if (Receive(packet, hello))
    {
      CheckText(hello.version);
      Require(!IsOfThisBuild(hello) || GetText(hello.version) == PERF_VERSION);
    }
  }

  // "rest": what the shared memory holds
  void TryAsResponse(const std::string& packet, const std::string& rest)
  {
    static FileDescriptor workers;
    static WorkerChannel channel(workers);
    WorkerResponse response;
    WorkerLimits limits;
    limits.result = 4096;

    if (!Receive(packet, response))
    {
      return;
    }

    CheckText(response.reason);
    Require(ftruncate(channel.GetMemory(), 0) == 0);
    channel.WriteMemory(rest.data(), rest.size());

    if (IsPlausible(response, limits))
    {
      try
      {
        const std::string file = channel.ReadMemory(response.resultSize);
        Require(file.size() == response.resultSize && file == rest.substr(0, file.size()));
      }
      catch (const std::runtime_error&)
      {
        Require(response.resultSize > rest.size());
      }
    }

    channel.SetMemorySize(rest.size() / 2);
  }

  // So that a run without a corpus comes to the fields, too: the begin is a message of that size,
  // which is right but for the bytes that follow its first four
  template <typename Message>
  std::string MakeMessage(const std::string& data)
  {
    constexpr std::size_t KEPT = 4;
    const Message message;
    std::string bytes(reinterpret_cast<const char*>(&message), sizeof(message));
    std::copy_n(data.begin(), std::min(data.size(), bytes.size() - KEPT), bytes.begin() + KEPT);
    return bytes;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const std::string input(reinterpret_cast<const char*>(data), size);
  TryAsHello(input);
  TryAsResponse(input, input);
  TryAsHello(MakeMessage<WorkerHello>(input));
  TryAsResponse(MakeMessage<WorkerResponse>(input), input);
  return 0;
}
