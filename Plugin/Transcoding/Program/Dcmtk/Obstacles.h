// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"
#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <cstdint>

namespace OrthancPerf
{
  // Whether DCMTK has a codec that reads, or writes, this transfer syntax; nullptr: an unknown one
  bool CanDecode(const TransferSyntax* syntax) noexcept;
  bool CanEncode(const TransferSyntax* syntax) noexcept;

  // Throws NotCovered if this image can't be written in this encapsulated transfer syntax by DCMTK,
  // or not without harm to the samples
  void CheckImage(const TransferSyntax& target, const PixelDescription& image);

  // Throws NotCovered if there are more rows or columns than it writes, for an image that has all
  // of its pixels
  void CheckDimensions(const TransferSyntax& target, const PixelDescription& image);

  // Throws NotCovered if lossy compression would lose more than it may, although CheckImage() finds
  // nothing: bits outside of those that are stored, where overlays are embedded for example.
  // "pixels": all frames, 8 or 16 bits allocated, in the order of this machine.
  void CheckStoredBits(const PixelDescription& image, const std::uint8_t* pixels);
}
