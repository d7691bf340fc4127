// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>

namespace OrthancPerf
{
  // What DCMTK's JPEG decoders log: they go on after damage with what pixels they have, and only
  // their log tells. There is one log per process, so this is static; one thread.
  class CodecWarnings
  {
  public:
    // Takes over DCMTK's log. Nothing is printed from then on.
    static void Install();

    static void Forget();

    // The first one since then that speaks of damaged data; empty: none does
    static const std::string& GetDamage();
  };
}
