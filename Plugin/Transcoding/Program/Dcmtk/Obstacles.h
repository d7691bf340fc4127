// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <cstdint>
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcxfer.h>
#include <string>

namespace OrthancPerf
{
  // Whether DCMTK has a codec that reads, or writes, this transfer syntax
  bool CanDecode(E_TransferSyntax xfer);
  bool CanEncode(E_TransferSyntax xfer);

  // Why this image can't be written in this encapsulated transfer syntax by DCMTK, or not without
  // harm to the samples; empty: nothing speaks against it.
  std::string FindObstacle(E_TransferSyntax target, const PixelDescription& image);

  // Why lossy compression would lose more than it may, although FindObstacle() finds nothing: bits
  // outside of those that are stored, where overlays are embedded for example. "pixels": all
  // frames, 8 or 16 bits allocated, in the order of this machine.
  std::string FindLossyObstacle(const PixelDescription& image, const std::uint8_t* pixels);
}
