// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningDocument.h"

#include <array>
#include <tuple>

namespace OrthancPerf
{
  namespace
  {
    DicomSockets MakeStockSockets()
    {
      DicomSockets stock;
      stock.tcpNoDelay = false;
      stock.tcpQuickAck = false;
      stock.receiveBuffer = SocketBuffer::MakeDefault();
      stock.sendBuffer = SocketBuffer::MakeDefault();
      stock.keepAlive = std::chrono::seconds(0);
      stock.userTimeout = std::chrono::seconds(0);
      stock.congestionControl = "";
      return stock;
    }


    auto Tie(const DicomSockets& s)
    {
      return std::tie(s.tcpNoDelay, s.tcpQuickAck, s.receiveBuffer, s.sendBuffer, s.keepAlive,
                      s.userTimeout, s.congestionControl);
    }


    auto Tie(const IngestTranscoding& t)
    {
      return std::tie(t.transferSyntax, t.engine, t.verify, t.lossyQuality, t.ofCompressed,
                      t.orthancTranscoding);
    }
  }


  SocketBuffer SocketBuffer::MakeDefault()
  {
    return {Mode::Default, 0};
  }


  SocketBuffer SocketBuffer::MakeAutomatic()
  {
    return {Mode::Automatic, 0};
  }


  SocketBuffer SocketBuffer::MakeFixed(std::size_t bytes)
  {
    return {Mode::Fixed, bytes};
  }


  bool SocketBuffer::operator==(const SocketBuffer& other) const
  {
    return mode == other.mode && bytes == other.bytes;
  }


  bool DicomSockets::operator==(const DicomSockets& other) const
  {
    return Tie(*this) == Tie(other);
  }


  bool IngestTranscoding::operator==(const IngestTranscoding& other) const
  {
    return Tie(*this) == Tie(other);
  }


  // Divided first, as bytes times 100 may be no number any more
  std::uint64_t MemoryAmount::Resolve(std::uint64_t memory) const
  {
    constexpr std::uint64_t WHOLE = 100;
    return percent == 0 ? bytes : memory / WHOLE * percent;
  }


  bool MemoryAmount::operator==(const MemoryAmount& other) const
  {
    return bytes == other.bytes && percent == other.percent;
  }


  bool MemoryTuning::operator==(const MemoryTuning& other) const
  {
    return ingestBudget == other.ingestBudget && ingestWait == other.ingestWait;
  }


  bool AnswerTuning::operator==(const AnswerTuning& other) const
  {
    return archiveLevel == other.archiveLevel && httpLevel == other.httpLevel &&
           previewLevel == other.previewLevel;
  }


  bool Tuning::operator==(const Tuning& other) const
  {
    return dicomSockets == other.dicomSockets && ingestTranscoding == other.ingestTranscoding &&
           memory == other.memory && answers == other.answers &&
           storage.writeAtOnce == other.storage.writeAtOnce;
  }


  std::optional<DicomSockets> GetPresetValues(SocketPreset preset)
  {
    switch (preset)
    {
      case SocketPreset::Stock:
        return MakeStockSockets();

      case SocketPreset::Tuned:
        return DicomSockets();

      default:
        return std::nullopt;
    }
  }


  SocketPreset FindPreset(const DicomSockets& sockets)
  {
    for (const SocketPreset preset : GetAllSocketPresets())
    {
      if (GetPresetValues(preset) == sockets)
      {
        return preset;
      }
    }

    return SocketPreset::Custom;
  }
}
