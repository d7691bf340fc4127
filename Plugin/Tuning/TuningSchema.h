// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/SettingKey.h"
#include "Tuning/TuningDocument.h"

#include <string>
#include <vector>

namespace OrthancPerf
{
  using TuningKey = SettingKey<Tuning>;

  constexpr const char* DICOM_SOCKETS = "DicomSockets";
  constexpr const char* INGEST_TRANSCODING = "IngestTranscoding";
  constexpr const char* MEMORY = "Memory";
  constexpr const char* ANSWERS = "Answers";
  constexpr const char* STORAGE = "Storage";
  constexpr const char* PRESET = "Preset";  // sets all the other keys of the first section at once
  constexpr const char* BUFFER_AUTO = "auto";
  constexpr const char* BUFFER_DEFAULT = "default";  // also of levels: as Orthanc has it

  // Sizes for setsockopt(2): below a page nothing works well; the kernel doubles the value in an
  // "int", so that it takes no more than INT_MAX / 2 (sock_setsockopt in net/core/sock.c).
  constexpr IntegerRange BUFFER_RANGE = {4096, 1024 * 1024 * 1024 - 1};

  // MAX_TCP_KEEPIDLE in include/net/tcp.h; 0: off
  constexpr IntegerRange KEEP_ALIVE_RANGE = {0, 32767};

  // TCP_USER_TIMEOUT is an "int" of milliseconds (tcp(7)); 0: the system's
  constexpr IntegerRange USER_TIMEOUT_RANGE = {0, 2147483};

  constexpr IntegerRange LOSSY_QUALITY_RANGE = {1, 100};

  // Less would admit messages of two pieces (AdmissionQueue::PIECE) one after the other. No machine
  // has more.
  constexpr IntegerRange MEMORY_RANGE = {std::int64_t{64} << 20, std::int64_t{1} << 50};
  constexpr IntegerRange SHARE_RANGE = {1, 100};

  constexpr IntegerRange INGEST_WAIT_RANGE = {1, 3600};

  constexpr IntegerRange DEFLATE_LEVEL_RANGE = {0, 9};  // deflateInit() in zlib.h

  // Every key of the tuning document, "Preset" before the keys that it sets
  const std::vector<TuningKey>& GetTuningKeys();

  // The names of the sections, in the order of the document
  const std::vector<std::string>& GetTuningSections();

  // Null: no such key
  const TuningKey* FindTuningKey(const std::string& section, const std::string& name);
}
