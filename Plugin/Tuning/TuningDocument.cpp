// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningDocument.h"

namespace OrthancPerf
{
  namespace
  {
    DicomSockets MakeStockSockets()
    {
      const SocketBuffer buffer = SocketBuffer::MakeDefault();
      return {false, false, buffer, buffer, std::chrono::seconds(0), std::chrono::seconds(0), ""};
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


  // Divided first, as bytes times 100 may be no number any more
  std::uint64_t MemoryAmount::Resolve(std::uint64_t memory) const
  {
    constexpr std::uint64_t WHOLE = 100;
    return percent == 0 ? bytes : memory / WHOLE * percent;
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
