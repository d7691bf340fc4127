// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ImageDescription.h"

#include <string>

namespace OrthancPerf
{
  // What the compressed frames of an image say of themselves, against what its data set says of
  // them, and against each other: size, samples, bits, colours. Where they contradict each other,
  // viewers and codecs differ in whom they believe, so that nobody knows what the image looked
  // like: a JPEG of YCbCr that is labelled RGB, for example. DICOM PS3.5 section 8.2.1 asks for
  // agreement.
  //
  // Returns what does not agree; empty if all does, and for pixels that are not compressed, or
  // whose frames have no header. Reads headers only. Any thread may call it.
  std::string FindContradiction(const ImageDescription& image);
}
