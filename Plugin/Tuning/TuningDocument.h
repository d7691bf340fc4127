// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Enumeration.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // A send or receive buffer of a socket
  struct SocketBuffer
  {
    enum class Mode
    {
      Default,    // as the application made it: DCMTK sets a size if TCP_BUFFER_LENGTH is set
      Automatic,  // the kernel's autotuning (tcp(7), tcp_moderate_rcvbuf), whatever DCMTK asked for
      Fixed       // "bytes", which switches autotuning off
    };

    Mode mode = Mode::Automatic;
    std::size_t bytes = 0;  // as given to setsockopt(2); 0 unless the mode is Fixed

    static SocketBuffer MakeFixed(std::size_t bytes)
    {
      return {Mode::Fixed, bytes};
    }
  };

  inline bool operator==(const SocketBuffer& a, const SocketBuffer& b)
  {
    return a.mode == b.mode && a.bytes == b.bytes;
  }

  // TCP_CA_NAME_MAX in linux/tcp.h is 16, with the final zero
  constexpr std::size_t MAXIMUM_CONGESTION_CONTROL = 15;

  // What the plugin does to each DICOM connection. A false, "Default", zero or empty value means
  // that the plugin leaves that property as Orthanc and DCMTK made it, or gives it back.
  struct DicomSockets
  {
    bool tcpNoDelay = true;
    bool tcpQuickAck = true;
    SocketBuffer receiveBuffer;
    SocketBuffer sendBuffer;
    std::chrono::seconds keepAlive = std::chrono::seconds(60);   // silence before the first probe
    std::chrono::seconds userTimeout = std::chrono::seconds(0);  // unacknowledged data
    std::string congestionControl;                               // "cubic", "bbr"
  };

  // Named sets of all of DicomSockets
  enum class SocketPreset
  {
    Stock,  // the plugin leaves every socket as Orthanc and DCMTK made it
    Tuned,  // the plugin's defaults
    Custom  // anything else
  };

  template <>
  inline constexpr std::array LABELS<SocketPreset> = {"stock", "tuned", "custom"};
  constexpr auto GetAllSocketPresets = ListAll<SocketPreset>;
  constexpr auto ParseSocketPreset = ParseLabel<SocketPreset>;

  // The values of a preset; nothing for Custom, which stands for no values of its own
  std::optional<DicomSockets> GetPresetValues(SocketPreset preset);

  // The preset that these values are exactly
  SocketPreset FindPreset(const DicomSockets& sockets);

  // Who transcodes
  enum class EngineChoice
  {
    Automatic,
    Dcmtk,
    Gdcm,
    Native
  };

  template <>
  inline constexpr std::array LABELS<EngineChoice> = {"auto", "dcmtk", "gdcm", "native"};
  constexpr auto GetAllEngineChoices = ListAll<EngineChoice>;
  constexpr auto ParseEngineChoice = ParseLabel<EngineChoice>;

  // How instances are transcoded before they are stored
  struct IngestTranscoding
  {
    std::string transferSyntax;  // a UID of GetWritableSyntaxes(); empty: store as received
    EngineChoice engine = EngineChoice::Automatic;
    bool verify = false;
    unsigned int lossyQuality = 90;  // 1 to 100, as in libjpeg

    // Whether what comes compressed, or deflated, is transcoded as well
    bool ofCompressed = false;

    // Whether the engines also do what Orthanc itself is asked to transcode, to lossless targets
    bool orthancTranscoding = false;
  };

  // An amount of main memory
  struct MemoryAmount
  {
    std::uint64_t bytes = 0;   // 0 as well if it is a share
    unsigned int percent = 0;  // of what the process may have; 0: it is no share

    // "memory": what the process may have; 0: not known
    std::uint64_t Resolve(std::uint64_t memory) const;
  };

  inline bool operator==(const MemoryAmount& a, const MemoryAmount& b)
  {
    return a.bytes == b.bytes && a.percent == b.percent;
  }

  // How much memory the instances that arrive may take
  struct MemoryTuning
  {
    MemoryAmount ingestBudget;  // none: as much as they want

    // What one message may wait at the head of the queue. Orthanc as a client gives up when an
    // upload has taken a minute in all ("HttpTimeout"), HAProxy as Debian configures it when
    // nothing came for 50 s: large ones are to be sent and stored in what is left.
    std::chrono::seconds ingestWait = std::chrono::seconds(30);
  };

  // How hard zlib is to compress what Orthanc answers with, 0 (not at all) to 9. Unset: as Orthanc
  // asks it to.
  struct AnswerTuning
  {
    std::optional<int> archiveLevel;
    std::optional<int> httpLevel;
    std::optional<int> previewLevel;
  };

  // How Orthanc's files are written
  struct StorageTuning
  {
    bool writeAtOnce = false;
  };

  // The tuning document: all that can be changed while Orthanc runs. A value; the members'
  // initial values are the plugin's defaults.
  struct Tuning
  {
    DicomSockets dicomSockets;
    IngestTranscoding ingestTranscoding;
    MemoryTuning memory;
    AnswerTuning answers;
    StorageTuning storage;
  };

  // Whether all keys of TuningSchema.h have the same values, but for "Preset"; of a section, its
  // own
  bool operator==(const Tuning& a, const Tuning& b);
  bool operator==(const DicomSockets& a, const DicomSockets& b);
  bool operator==(const IngestTranscoding& a, const IngestTranscoding& b);
}
