// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Enumeration.h"
#include "Ingest/Phase.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // How an instance came to Orthanc, in Orthanc's own words (OrthancPluginInstanceOrigin)
  enum class Origin
  {
    Unknown,
    DicomProtocol,
    RestApi,
    Plugin,
    Lua,
    WebDav
  };

  template <>
  inline constexpr std::array LABELS<Origin> = {"Unknown", "DicomProtocol", "RestApi",
                                                "Plugins", "Lua",           "WebDav"};
  constexpr std::size_t ORIGIN_COUNT = LABELS<Origin>.size();
  constexpr auto GetAllOrigins = ListAll<Origin>;

  // What became of an instance that was received
  enum class Outcome
  {
    Stored,     // in Orthanc's store, newly or already
    Discarded,  // refused by a filter, of Lua's or a plugin's; from 1.13.0 on, also stored already
    Failed      // the response says so, or what led to it: see Verdict.h
  };

  template <>
  inline constexpr std::array LABELS<Outcome> = {"stored", "discarded", "failed"};
  constexpr std::size_t OUTCOME_COUNT = LABELS<Outcome>.size();
  constexpr auto GetAllOutcomes = ListAll<Outcome>;

  // Which side sends: the peer to Orthanc, or Orthanc to the peer
  enum class Direction
  {
    Receive,
    Send
  };

  template <>
  inline constexpr std::array LABELS<Direction> = {"receive", "send"};
  constexpr std::size_t DIRECTION_COUNT = LABELS<Direction>.size();
  constexpr auto GetAllDirections = ListAll<Direction>;

  // Who is at the other end. Strangers choose the names: they are bounded and made printable
  // (MakePrintable) before they get here.
  struct Peer
  {
    std::string name;     // application entity title; for HTTP the address; empty: not known
    std::string address;  // IP address; empty: not known
  };

  // At most this many characters of a peer's name are kept: an AE title has 16 (DICOM PS3.5
  // section 6.2), an IPv6 address with a zone 62 (INET6_ADDRSTRLEN and IF_NAMESIZE).
  constexpr std::size_t MAXIMUM_PEER_NAME = 64;

  // The text up to its first NUL, without surrounding spaces (DICOM PS3.8 section 9.3.2), control
  // and non-ASCII characters replaced by "?", cut at MAXIMUM_PEER_NAME: safe as a label, in a log
  // and on a page that escapes its text.
  std::string MakePrintable(const std::string& text);

  // What a transcoder made of an instance on its way into the store. A value.
  struct TranscodingRecord
  {
    std::string engine;       // empty: there was none to try
    std::string target;       // transfer syntax UID
    std::string outcome;      // "transcoded", "declined", "failed", "duplicate"
    std::string reason;       // why it is stored as received; at most MAXIMUM_TRANSCODING_REASON
    bool isVerified = false;  // its pixels were compared with those received
    std::size_t size = 0;     // bytes of the DICOM file that is stored instead; 0: as received
  };

  constexpr std::size_t MAXIMUM_TRANSCODING_REASON = 200;

  // What an instance needed of the storage's server or of the database's; the time is Phase::Remote
  // or Phase::Database. A value.
  struct ServerRecord
  {
    std::string server;   // "10.0.0.1:5432", "/run/postgresql/.s.PGSQL.5432"; empty: not known
    int connection = -1;  // a descriptor, to tell connections apart
    std::uint32_t roundTrips = 0;
    Duration shortest = Duration::zero();  // of the round trips: what the way there and back takes

    // Of the index, before the database was asked first, and not computing: for a free connection,
    // or for the processor. Nothing: the index could not be told from the storage.
    std::optional<Duration> queued;
  };

  // Some of the stalls of an instance, and what they took together. A value.
  struct StallSum
  {
    std::uint32_t count = 0;
    Duration time = Duration::zero();
    Duration idle = Duration::zero();  // of "time", in the pause before the message
  };

  // The line of the journal for one instance: what came in, from whom, what became of it, and
  // where its time went. A value; holds no patient data.
  struct FinishedInstance
  {
    // Orthanc's identifier of a received one, also if it was not stored; empty where it is not
    // known
    std::string instanceId;

    Direction direction = Direction::Receive;
    Origin origin = Origin::Unknown;
    Outcome outcome = Outcome::Failed;
    std::string reason;         // why it was not stored, one text of few; empty where it was
    bool isOwnFailure = false;  // received, and failed though Orthanc could read it
    Peer peer;
    std::size_t size = 0;  // bytes of the DICOM file as received
    TimePoint endedAt;
    std::chrono::system_clock::time_point finishedAt;  // the same, for people
    PhaseDurations phases;
    bool areStallsObserved = false;  // by the probe; without it, no stalls does not mean none
    std::uint32_t stalls = 0;
    Duration stallTime = Duration::zero();
    Duration stallTimeInIdle = Duration::zero();   // of it, what is part of Phase::Idle
    std::optional<TranscodingRecord> transcoding;  // nothing: none was tried
    std::optional<ServerRecord> remote;            // nothing: it was not seen
    std::optional<ServerRecord> database;          // likewise
  };
}
