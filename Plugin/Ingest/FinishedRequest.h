// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Phase.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // What a request to Orthanc's HTTP or DICOM server reads, by its route or service. Its path, its
  // query and the identifiers in them are never kept.
  enum class RouteClass : std::uint8_t
  {
    File,       // /instances/{id}/file
    Frame,      // /instances/{id}/frames/{n}/raw, image-uint8, …
    Rendered,   // …/rendered, and DICOMweb's; thumbnails
    Preview,    // …/preview
    Archive,    // …/archive, …/media, /tools/create-archive, /tools/create-media
    WadoStudy,  // DICOMweb's WADO-RS (DICOM PS3.18 section 10.4)
    WadoSeries,
    WadoInstance,
    WadoFrames,
    WadoMetadata,
    Query,  // QIDO-RS (PS3.18 section 10.6), /tools/find, /tools/lookup
    Other,  // all else that only reads over HTTP
    CGet,   // DICOM PS3.4 annexes C and K
    CMove,
    CFind
  };

  template <>
  inline constexpr std::array LABELS<RouteClass> = {
      "file",       "frame",       "rendered",      "preview",     "archive",
      "wado-study", "wado-series", "wado-instance", "wado-frames", "wado-metadata",
      "query",      "other",       "c-get",         "c-move",      "c-find"};
  constexpr std::size_t ROUTE_CLASS_COUNT = LABELS<RouteClass>.size();
  constexpr auto GetAllRouteClasses = ListAll<RouteClass>;

  constexpr bool IsDimse(RouteClass route) noexcept
  {
    return route >= RouteClass::CGet;
  }

  // Nothing: the request does not read. "path": with or without a query. "isPost": else it is GET.
  // Allocates nothing.
  std::optional<RouteClass> ReadRouteClass(std::string_view path, bool isPost) noexcept;

  // Where the time of a request goes: the phases of its thread
  constexpr std::array REQUEST_PHASES = {
      Phase::Idle,      // since the response before it on its connection: the client thinks
      Phase::Receive,   // from its first byte to its last one
      Phase::Database,  // its thread waited for the database, where that is a server
      Phase::Storage,   // its thread read files, or waited for the server of the storage area
      Phase::Work,      // the rest: decode, transcode, compress, SQLite, other threads
      Phase::Send};     // its thread handed the response to the kernel, or waited for room there

  // How a request ended: the first digit of HTTP, or the kind of DIMSE's status (DICOM PS3.7 annex
  // C). For metrics.
  constexpr std::array<const char*, 9> READ_STATUSES = {
      "unknown", "1xx", "2xx", "3xx", "4xx", "5xx", "success", "cancelled", "failure"};

  // A request that read, and was answered. From its last byte to the last one of its response, the
  // phases of its thread add up to the time that passed. A value; holds no patient data.
  struct FinishedRequest
  {
    RouteClass route = RouteClass::Other;
    std::optional<std::uint16_t> status;  // of HTTP or DIMSE; nothing: TLS hides it
    std::string address;                  // the client's
    std::string product;  // of its User-Agent: "curl"; empty: it says none. DIMSE: its AE title
    std::uint64_t bytesSent = 0;  // the response, with its header
    std::array<std::optional<Duration>, REQUEST_PHASES.size()> phases;  // of REQUEST_PHASES
    // Of "send": for room in the client's window; DIMSE: for responses to sub-operations
    Duration clientWait = Duration::zero();
    std::uint32_t responses = 0;            // of DIMSE, the last one included
    std::optional<Duration> firstResponse;  // likewise: from the last byte of the request
    TimePoint endedAt;
    std::chrono::system_clock::time_point finishedAt;

    // Without "idle"
    Duration GetDuration() const noexcept;

    // A place in READ_STATUSES
    std::size_t GetStatusPlace() const noexcept;

    // HTTP: 5xx. DIMSE: neither success nor cancelled by the client.
    bool HasFailed() const noexcept;
  };
}
