// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/ConnectionTracker.h"
#include "Network/RecordedJournal.h"

#include <gtest/gtest.h>
#include <string>

namespace OrthancPerf
{
  // The connections of a server on which a test says what is read and written, and when
  class TrackedConnections : public testing::Test
  {
  protected:
    static constexpr int FD = 4095;  // no socket: TCP_INFO is absent

    TrackedConnections()
    {
      tracker_.places = {4242, 8042};
    }

    static TimePoint At(int ms)
    {
      return TimePoint(std::chrono::milliseconds(1000 + ms));
    }

    // 10.0.0.1
    static PeerAddress MakeAddress(std::uint16_t port)
    {
      PeerAddress address;
      address.ip = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 0, 0, 1};
      address.port = port;
      return address;
    }

    // A client of one of its ports, at 0 ms
    Connection& Open(std::uint16_t port)
    {
      return *tracker_.OnAccepted(FD, port, MakeAddress(1234), At(0));
    }

    void Read(Connection& connection, const std::string& bytes, int at)
    {
      tracker_.OnRead(connection, ToBytes(bytes), bytes.size(), At(at));
    }

    void Write(Connection& connection, const std::string& bytes, int at)
    {
      tracker_.OnWritten(connection, ToBytes(bytes), bytes.size(), At(at));
    }

    bool Recognise(Connection& connection, const std::string& bytes, int at)
    {
      return tracker_.RecogniseOutgoing(connection, ToBytes(bytes), bytes.size(), At(at));
    }

    RecordedJournal& Drain()
    {
      return journal_.Drain(tracker_);
    }

    ConnectionTracker tracker_;
    RecordedJournal journal_;

  private:
    static const std::uint8_t* ToBytes(const std::string& bytes)
    {
      return reinterpret_cast<const std::uint8_t*>(bytes.data());
    }
  };
}
