// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"

#include <chrono>
#include <cstdint>

namespace OrthancPerf
{
  // A sender that is held back hears something now and then: a sip is read of what it sends. At
  // first that is SIP after 1, 2, 4 and 8 s, for those who have nearly all of it with the kernels
  // (no more than 4 MB with the sender's, tcp_wmem of tcp(7)) and wait for the answer then:
  // Orthanc does so for 10 s (DicomScuTimeout), pynetdicom for 30 s. Afterwards it is seldom, but
  // as much: DCMTK and pynetdicom give up after 60 s in which nothing could be written, and Linux
  // lets them write only once a third of their buffer is free (sk_stream_is_writeable), 1.4 MB of
  // 4 MB, which two sips are. Where sips come more often than SILENCE, they are smaller in
  // proportion. A PDU of 128 KiB, as much as DCMTK takes (ASC_MAXIMUMPDUSIZE), with its header, and
  // in the records of TLS, is less than LEAST_SIP, and so waits no more than once.
  //
  // Counts those of one message. A value; one thread at a time.
  class SenderSips
  {
  public:
    static constexpr std::uint64_t SIP = std::uint64_t{1024} * 1024;
    static constexpr std::uint64_t LEAST_SIP = SIP / 32 * 5;
    static constexpr Duration FIRST_SILENCE = std::chrono::seconds(1);
    static constexpr unsigned FIRST_SIPS = 4;
    static constexpr Duration SILENCE = std::chrono::seconds(20);

    // How often what a sender has sent is read at once, as it may be all: those who send on after
    // each pause would never be held back
    static constexpr unsigned MOST_RESTS = 16;

    // What is known of a message that comes in pieces
    struct Sender
    {
      bool isHttp = false;

      // With so much read, the kernel tells the sender of room
      std::uint64_t sip = SIP;

      // All that the sender has sent is with the kernel here, so much; 0: or it may have more
      std::uint64_t rest = 0;
    };

    // What may be read now of a message that has waited for so long at once; 0: nothing. "longest":
    // in which nothing may be read, SILENCE at most.
    std::uint64_t Take(const Sender& sender, Duration waited, Duration longest) noexcept;

    // There was room for it
    void Forget() noexcept
    {
      *this = {};
    }

    // It was read a piece without room: its sender may be near its end again
    void BeginAgain() noexcept
    {
      sips_ = 0;
    }

  private:
    std::uint64_t FindLeast(Duration longest) const noexcept;
    Duration FindSilence(Duration longest) const noexcept;

    unsigned sips_ = 0;
    unsigned rests_ = 0;  // of what may have been all
  };
}
