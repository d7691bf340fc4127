// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningDocument.h"

namespace OrthancPerf
{
  // Divided first, as bytes times 100 may be no number any more
  std::uint64_t MemoryAmount::Resolve(std::uint64_t memory) const
  {
    constexpr std::uint64_t WHOLE = 100;
    return percent == 0 ? bytes : memory / WHOLE * percent;
  }


  std::optional<DicomSockets> GetPresetValues(SocketPreset preset)
  {
    constexpr SocketBuffer BUFFER = {SocketBuffer::Mode::Default, 0};
    const DicomSockets stock = {
        false, false, BUFFER, BUFFER, std::chrono::seconds(0), std::chrono::seconds(0), ""};
    return preset == SocketPreset::Stock   ? std::make_optional(stock)
           : preset == SocketPreset::Tuned ? std::make_optional(DicomSockets())
                                           : std::nullopt;
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
