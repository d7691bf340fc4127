// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dctk.h>

namespace OrthancPerf
{
  // Implicit VR does not say whether a value of VR "US or SS" has a sign: Pixel Representation does
  // (DICOM PS3.3 sections C.7.5.1.1.2, C.7.6.3.1.5, C.7.6.16.2.11, C.11.1.1.1), that of the item
  // or, if it has none, of what it is in. DCMTK (up to 3.6.9 at least) asks the same item alone,
  // and not at all about palettes and Mapped Pixel Value. What it does not know, "xs" to it, it
  // would write as unsigned.
  //
  // Gives them the VR that they have in Explicit VR, once a data set was read. Their bits stay.
  // Without any Pixel Representation they stay unsigned. A VOI LUT may be about other values than
  // those of pixels (section C.11.2.1.1): throws NotCovered where its first value could be read
  // either way. Throws CodecError if DCMTK can't do it. Any thread, one a data set.
  void SetSigns(DcmDataset& dataset);
}
