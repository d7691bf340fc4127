// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"

#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // A request that came over a connection: one DIMSE message, or one HTTP request
  struct MessageId
  {
    std::uint32_t connection = 0;  // a place in the table of connections
    std::uint64_t serial = 0;      // grows with each message of the place, also when it is reused

    bool operator==(const MessageId& other) const
    {
      return connection == other.connection && serial == other.serial;
    }
  };

  // When a message has come, or gone, so far
  struct MessageTimes
  {
    TimePoint firstByte;
    TimePoint lastByte;
    std::optional<Duration> idle;  // since the response before it; absent for the first one
    StallSum stalls;
  };

  // What was seen of a message on its socket so far
  struct Message : MessageTimes
  {
    MessageId id;
    bool isDicom = false;  // a DIMSE message, as far as is known
    Peer peer;             // empty name: there is none (HTTP), or it is not known (encrypted)
  };

  // What is known of the response to a message
  struct Response
  {
    enum class State
    {
      Pending,  // nothing was written yet
      Written,  // "lastByte": when what was written so far was handed to the kernel
      Gone      // too much has happened on the connection since, or it was closed without one
    };

    State state = State::Pending;
    TimePoint lastByte = TimePoint();
    bool isClosed = false;  // the connection, since

    // DIMSE Status (0000,0900), or HTTP status code. Nothing: it cannot be read.
    std::optional<std::uint16_t> status = std::nullopt;
  };

  // What was written for an instance, into one file or several
  struct StoredFile
  {
    TimePoint created;  // the first one
    TimePoint closed;   // the last one
    std::optional<Duration> sync;
  };

  // What a thread has asked of a server for an instance. All times are the thread's.
  struct ServerWork : ServerRecord
  {
    Duration waited = Duration::zero();  // for answers

    // Of the storage: the first question, or when it was connected to for that, and the last answer
    // before the database was asked
    TimePoint begin;
    TimePoint end;
  };

  // What a thread has written, and asked of servers, for an instance
  struct StorageWork
  {
    std::optional<StoredFile> file;
    std::optional<ServerWork> storage;
    std::optional<ServerWork> database;
  };

  // What a view of the sockets and files adds to Orthanc's callbacks. Implemented by what the probe
  // tells; where that is not installed, there is nothing.
  class IMessageSource
  {
  public:
    virtual ~IMessageSource() = default;

    // The message that the calling thread has read last, if it came over a known connection
    virtual std::optional<Message> GetCurrentMessage() const = 0;

    // The caller tells what becomes of the message that the calling thread has read last. Of a
    // C-STORE that nobody has claimed when Orthanc answers it, the source tells by itself.
    virtual void ClaimMessage() noexcept
    {
    }

    // Any thread
    virtual Response GetResponse(const MessageId& id) const noexcept = 0;

    // Any thread: how far the instance of this message is that is being stored: Storage, Index, or
    // Commit, where they cannot be told apart yet
    virtual Phase GetStoringPhase(const MessageId&) const noexcept
    {
      return Phase::Commit;
    }

    // The title of who sends what the calling thread has read last, as Orthanc knows it: TLS hides
    // it from the sockets. Until then, and without an instance, such an association has no title.
    virtual void NameRequestor(const std::string&) noexcept
    {
    }

    // What the calling thread writes and asks is its instance's, of this size, until it is taken
    virtual void BeginStorage(TimePoint now, std::size_t size) noexcept = 0;
    virtual StorageWork TakeStorageWork() = 0;
  };
}
