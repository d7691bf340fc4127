// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/MessageSource.h"
#include "Network/AskedServers.h"
#include "Network/Connection.h"
#include "Network/EventQueue.h"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  struct WatchedPlaces
  {
    std::uint16_t dicomPort = 0;  // of Orthanc's DICOM server; 0: none
    std::uint16_t httpPort = 0;   // of Orthanc's HTTP server; 0: none
  };

  // Makes exchanges, stalls and associations out of calls on connections, and tells the ingest of
  // the message that a thread has read last. The hooks make the calls, and pass on what came of
  // them and when: what is noexcept takes no lock and allocates nothing. Owned by the plugin's
  // context, outlives the probe; any thread, one a connection.
  //
  // A request is what the client of the connection sends: read by Orthanc on connections that it
  // accepted, written by it on those that it opened. Only their direction tells requests from
  // responses, so that TLS makes no difference. DIMSE as Orthanc speaks it is strictly alternate
  // (no asynchronous operations), and so is HTTP/1.1 without pipelining. The first byte in the
  // direction of requests after a response begins the next request. The first byte the other way
  // begins its response. What is no C-STORE or upload (TLS and association handshakes, C-ECHO)
  // makes exchanges as well: they end without an instance.
  class ConnectionTracker : public IMessageSource
  {
  public:
    // A wait of this length for the next byte of a message is a stall, and so is one of this length
    // for a message to begin while the kernel holds back the end of what Orthanc has written: half
    // of Linux's delayed ACK, 40 ms (TCP_DELACK_MIN, net/tcp.h of the kernel)
    static constexpr Duration STALL = std::chrono::milliseconds(20);

    ConnectionTracker();

    ConnectionTable table;
    EventQueue events;
    WatchedPlaces places;  // the probe's

    // A socket was accepted, on this local port; null: not watched
    Connection* OnAccepted(int fd, std::uint16_t localPort, const PeerAddress& peer,
                           TimePoint now) noexcept;

    // Orthanc has looked up this host, which has this address, or none. Port 0: any.
    void OnLookedUp(HostHash host, const PeerAddress& address, bool isResolved) noexcept;

    Connection* OnConnecting(int fd, const PeerAddress& peer, TimePoint now) noexcept
    {
      return table.Open(fd, ConnectionKind::OutgoingCandidate, peer, now);
    }

    void OnConnected(Connection& connection, TimePoint now) noexcept;

    // Before bytes are written: is it DICOM, or HTTP to a peer? If not, it is watched no longer.
    bool RecogniseOutgoing(Connection& connection, const std::uint8_t* data, std::size_t size,
                           TimePoint now) noexcept;

    // It waited for bytes to read, whether they came or not; a stall counts when they do
    void OnWaited(Connection& connection, TimePoint from, TimePoint now) noexcept;

    // The thread still waits for a message to begin: does the kernel hold back what Orthanc has
    // written? True: not so far, look again.
    static bool LookIntoWait(Connection& connection, TimePoint from) noexcept;

    // The thread waits no longer, nor does the kernel hold back what it held back
    static void OnLetGo(Connection& connection, TimePoint now) noexcept;

    void OnRead(Connection& connection, const std::uint8_t* data, std::size_t size,
                TimePoint now) noexcept;

    void OnWritten(Connection& connection, const std::uint8_t* data, std::size_t size,
                   TimePoint now) noexcept;

    // Orthanc is about to serve an HTTP request. What came since the last response may be the body
    // of a request that was refused unread, which CivetWeb throws away. Then the request begins
    // with the latest read, which has the end of its header. "isStow": a STOW-RS request;
    // "reading": nothing if it does more than to read.
    void OnServed(Connection& connection, bool isStow,
                  const std::optional<ReadingRequest>& reading = std::nullopt) noexcept;

    void OnClosing(Connection& connection, TimePoint now) noexcept;

    // CurrentMessages.cpp: IMessageSource, for connections that Orthanc has accepted
    std::optional<Message> GetCurrentMessage() const override;
    void ClaimMessage() noexcept override;
    Response GetResponse(const MessageId& id) const noexcept override;
    Phase GetStoringPhase(const MessageId& id) const noexcept override;
    void NameRequestor(const std::string& title) noexcept override;
    void BeginStorage(TimePoint now, std::size_t size) noexcept override;
    StorageWork TakeStorageWork() override;

    // The connection that the calling thread has read last; -1: none that is known
    int GetCurrentConnection() const noexcept;

    // Whether the storage area and the index are kept by plugins, which may ask servers: until then
    // nothing that a thread asks is taken for one of them
    std::atomic<Served> served{Served()};

    // All DICOM connections that are open now. Any thread; what closes meanwhile is left out.
    std::vector<OpenAssociation> ListOpen(TimePoint now) const;

  private:
    Connection* FindCurrent() const noexcept;

    // The calling thread has read from this connection; null: it has sent
    void SetCurrent(Connection* connection) noexcept;

    // Exchanges.cpp
    void OnRequestBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                        TimePoint now) noexcept;
    void BeginRequest(Connection& connection, TimePoint now) noexcept;
    void NoteReading(Connection& connection) noexcept;
    void OnResponseBytes(Connection& connection, const std::uint8_t* data, std::size_t size,
                         TimePoint now) noexcept;
    void BeginAnswer(Connection& connection) noexcept;
    void NoteHttpAnswer(Connection& connection, std::int32_t status, bool isFirst,
                        TimePoint now) noexcept;
    void NoteDimseAnswer(Connection& connection, TimePoint now) noexcept;
    void NoteReadingAnswer(Connection& connection, TimePoint now) noexcept;
    void FollowPdus(Connection& connection, bool isRequestSide, const std::uint8_t* data,
                    std::size_t size, TimePoint now) noexcept;
    void OnPdu(Connection& connection, PduType type, TimePoint now) noexcept;

    // FinishedExchanges.cpp. "outcome": how the association ended; Released while it goes on.

    // The request under way is over, with its response or without one
    void FinishExchange(Connection& connection, AssociationOutcome outcome) noexcept;
    void FinishSent(Connection& connection, AssociationOutcome outcome) noexcept;

    // So is the C-STORE that Orthanc has sent as a sub-operation, if there is one. What the peer
    // has written since is the response.
    void FinishSubOperation(Connection& connection, AssociationOutcome outcome) noexcept;

    // So is the request that reads, if there is one. Without an answer it is left out: the client
    // is gone.
    void FinishRead(Connection& connection) noexcept;
    void FinishConnection(Connection& connection, TimePoint now) noexcept;

    // Orthanc has refused an instance before it asked a plugin
    void AddRefused(Connection& connection) noexcept;

    // A call by this thread, and what came of it by now
    void AddCall(ProbeEvent::Kind kind, const Connection& connection, TimePoint now) noexcept;

    // The calling thread's former instance or request is over, whether it was taken or has failed
    static void EndStorage() noexcept;
  };
}
