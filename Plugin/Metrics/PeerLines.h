// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/FinishedInstance.h"
#include "Ingest/PeerDirectory.h"

#include <prometheus/labels.h>

#include <cstddef>
#include <string>

namespace OrthancPerf
{
  // The label sets "peer" and "direction", numbered: a "line" is one peer in one direction. A peer
  // that is not known has lines too, without the label "peer", so that sums are complete. As many
  // as the directory bounds. A value; any thread may call it.
  class PeerLines
  {
  public:
    // The directory must outlive the lines
    explicit PeerLines(PeerDirectory& directory);

    // The peer is given a place in the directory if there is any left
    std::size_t Find(const std::string& peer, Direction direction) const;

    // All lines are below this
    std::size_t GetCount() const;

    prometheus::Labels MakeLabels(std::size_t line) const;

  private:
    PeerDirectory& directory_;
  };
}
