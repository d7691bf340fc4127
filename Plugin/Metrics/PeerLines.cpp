// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/PeerLines.h"

namespace OrthancPerf
{
  // A line is place * DIRECTION_COUNT + direction. The place after the directory's last is that of
  // the peers that are not known.

  PeerLines::PeerLines(PeerDirectory& directory) : directory_(directory)
  {
  }

  std::size_t PeerLines::Find(const std::string& peer, Direction direction) const
  {
    const PeerIndex place = directory_.Resolve(peer).value_or(directory_.GetCapacity());
    return place * DIRECTION_COUNT + static_cast<std::size_t>(direction);
  }

  std::size_t PeerLines::GetCount() const
  {
    return (directory_.GetCapacity() + 1) * DIRECTION_COUNT;
  }

  prometheus::Labels PeerLines::MakeLabels(std::size_t line) const
  {
    prometheus::Labels labels;
    labels["direction"] = ToLabel(GetAllDirections().at(line % DIRECTION_COUNT));

    if (const std::size_t place = line / DIRECTION_COUNT; place < directory_.GetCapacity())
    {
      labels["peer"] = directory_.GetName(place);
    }

    return labels;
  }
}
