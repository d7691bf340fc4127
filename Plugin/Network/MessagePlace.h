// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Association.h"
#include "Network/Connection.h"
#include "Network/Messages/CommandField.h"
#include "Network/Messages/SubOperation.h"
#include "Network/Messages/TlsAssociateRequest.h"
#include "Network/ProbeEvent.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>

namespace OrthancPerf
{
  // Under TLS the command of a message cannot be read: one of this size is taken for a C-STORE,
  // as other requests (C-ECHO, C-FIND, C-MOVE, N-ACTION) have some hundred bytes.
  constexpr std::uint64_t LARGE_MESSAGE = 4096;

  // The same of its answer, which Orthanc writes with both UIDs (DICOM PS3.7 section 9.3.1.2): of
  // what is written at once, a part has more. An A-ABORT and an alert with which OpenSSL closes
  // have up to 85, with initialization vector, padding and SHA-384 of TLS 1.2 (RFC 5246
  // section 6.2.3.2).
  constexpr std::uint64_t SMALLEST_ANSWER = 90;

  // The last instance of an association is taken up within half a second: by then its
  // descriptor may have seen the release, and another short association or two
  constexpr std::size_t REMEMBERED_RESPONSES = 8;


  // What the thread that has the connection knows of it
  struct MessageProgress
  {
    bool hasExchange = false;  // a request has begun
    TlsAssociateRequest tlsAssociateRequest;
    std::uint64_t requestBytes = 0;
    std::uint64_t largestResponse = 0;  // of what was written at once
    std::uint32_t heldStalls = 0;       // of the response before, for the next message
    Duration heldTime = Duration::zero();
    StallSum heldLossStalls;  // of them
    std::uint32_t instances = 0;
    std::uint64_t claimedSerial = 0;  // the latest message of which the ingest tells
    std::int64_t setup = -1;          // accepted, or connect called -> answer
    std::int64_t associate = -1;      // request -> answer
    CommandFieldReader command;
    CommandFieldReader response;  // of an outgoing connection
    SubOperation subOperation;
  };


  // What is known of the response to a message
  struct ResponsePlace
  {
    std::atomic<std::int64_t> lastByte = 0;  // so far; 0: none yet
    std::atomic<std::int32_t> status = -1;   // DIMSE or HTTP; -1: it cannot be read. Written first.
  };


  // What is known of the messages on the connection that has a file descriptor. Written by the
  // thread that has the connection, read by any; times are Clock's counts. The request is read
  // without protection: a reader that finds the connection closed afterwards forgets what it read.
  struct MessagePlace : MessageProgress
  {
    // Of the connection: fixed once hasParties is set
    AssociateRequest request;
    std::atomic<bool> hasParties = false;
    std::atomic<bool> isAccepted = false;  // as in FinishedAssociation

    // Of the message under way. The serial is never reset.
    std::atomic<std::uint64_t> serial = 0;
    std::atomic<std::uint64_t> closedSerial = 0;  // when a connection was closed last
    std::atomic<std::int64_t> firstByte = 0;
    std::atomic<std::int64_t> lastByte = 0;
    std::atomic<std::int64_t> idle = -1;  // -1: there was no response before
    std::array<ResponsePlace, REMEMBERED_RESPONSES> responses = {};
    std::atomic<std::uint32_t> stalls = 0;
    std::atomic<std::int64_t> stallTime = 0;
    std::atomic<bool> isFileClosed = false;  // of its latest instance
    std::atomic<std::uint32_t> lossStalls = 0;
    std::atomic<std::int64_t> lossStallTime = 0;
    std::atomic<bool> isHttp = false;
    SharedAddress peer;

    // That to one of the latest messages
    ResponsePlace& GetResponse(std::uint64_t messageSerial) noexcept
    {
      return responses[messageSerial % responses.size()];
    }

    const ResponsePlace& GetResponse(std::uint64_t messageSerial) const noexcept
    {
      return responses[messageSerial % responses.size()];
    }

    // To the message under way
    ResponsePlace& GetResponse() noexcept
    {
      return GetResponse(serial.load(std::memory_order_relaxed));
    }

    // Its last byte so far; 0: none yet
    std::int64_t GetAnsweredAt() const noexcept
    {
      return GetResponse(serial.load(std::memory_order_relaxed))
          .lastByte.load(std::memory_order_relaxed);
    }

    // What was known of the connection that had the descriptor before is forgotten
    void Open(const Connection& connection) noexcept
    {
      hasParties.store(false, std::memory_order_relaxed);
      isAccepted.store(connection.IsOutgoing() &&
                           connection.isEncrypted.load(std::memory_order_relaxed),
                       std::memory_order_relaxed);
      isHttp.store(!connection.IsDicom(), std::memory_order_relaxed);
      peer.Store(connection.peer.Load());
      static_cast<MessageProgress&>(*this) = {};
    }

    AssociationParties GetParties() const
    {
      return hasParties.load(std::memory_order_acquire) ? ToParties(request) : AssociationParties();
    }

    Peer GetRequestor() const
    {
      const bool isReadable = hasParties.load(std::memory_order_acquire);
      return ToPeer(request, isReadable, true, peer.Load());
    }

    // Nothing else of the request is known then. By the thread that has the connection.
    void NameRequestor(std::string_view title) noexcept
    {
      if (!isHttp.load(std::memory_order_relaxed) && !hasParties.load(std::memory_order_relaxed))
      {
        request = AssociateRequest();
        request.callingTitle.Assign(title);
        hasParties.store(true, std::memory_order_release);
      }
    }

    void AddStall(Duration waited, bool isLossSeen) noexcept
    {
      stalls.fetch_add(1, std::memory_order_relaxed);
      stallTime.fetch_add(waited.count(), std::memory_order_relaxed);

      if (isLossSeen)
      {
        lossStalls.fetch_add(1, std::memory_order_relaxed);
        lossStallTime.fetch_add(waited.count(), std::memory_order_relaxed);
      }
    }

    void AddHeldStall(Duration waited, bool isLossSeen) noexcept
    {
      heldStalls++;
      heldTime += waited;

      if (isLossSeen)
      {
        heldLossStalls.count++;
        heldLossStalls.time += waited;
      }
    }

    // Those that were held are the ones of the message under way
    void TakeHeldStalls() noexcept
    {
      stalls.store(std::exchange(heldStalls, 0), std::memory_order_relaxed);
      stallTime.store(std::exchange(heldTime, Duration::zero()).count(), std::memory_order_relaxed);
      lossStalls.store(heldLossStalls.count, std::memory_order_relaxed);
      lossStallTime.store(heldLossStalls.time.count(), std::memory_order_relaxed);
      heldLossStalls = {};
    }

    StallSum GetLossStalls() const noexcept
    {
      return {lossStalls.load(std::memory_order_relaxed),
              Duration(lossStallTime.load(std::memory_order_relaxed))};
    }

    bool IsInstance(const Connection& connection) const noexcept
    {
      return connection.isEncrypted.load(std::memory_order_relaxed)
                 ? tlsAssociateRequest.IsHandshakeOver() && !tlsAssociateRequest.IsUnderWay() &&
                       requestBytes >= LARGE_MESSAGE
                 : command.Get() == C_STORE_REQUEST;
    }

    // What follows on the A-ASSOCIATE-RQ under TLS shows that it was answered before, and when
    void FinishAssociateRequest(const Connection& connection) noexcept
    {
      const std::int64_t answer = GetAnsweredAt();

      if (tlsAssociateRequest.Finish() && answer != 0)
      {
        setup = answer - connection.openedAt.load(std::memory_order_relaxed);
        associate = answer - firstByte.load(std::memory_order_relaxed);
      }
    }
  };
}
