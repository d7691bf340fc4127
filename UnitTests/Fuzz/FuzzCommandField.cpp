// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes, in one piece and cut in two, give the same PDUs and the same latest message.
#include "Fuzz/Require.h"
#include "Network/Messages/DimseReader.h"

#include <string>

namespace
{
  using namespace OrthancPerf;

  // The types of PDUs, and a zero for each command set
  std::string Feed(DimseReader& reader, const std::uint8_t* data, std::size_t size)
  {
    std::string found;
    reader.Feed(
        data, size, TimePoint(), [&](PduType type) { found += static_cast<char>(type); },
        [&] { found += '\0'; });
    return found;
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  DimseReader whole;
  const std::string atOnce = Feed(whole, data, size);

  const std::size_t cut = size == 0 ? 0 : data[0] * size / 256;
  DimseReader pieces;
  std::string twice = Feed(pieces, data, cut);
  twice += Feed(pieces, data + cut, size - cut);

  Require(atOnce == twice && whole.GetCommand() == pieces.GetCommand() &&
          whole.GetStatus() == pieces.GetStatus() && whole.GetSize() == pieces.GetSize() &&
          whole.HasDataSet() == pieces.HasDataSet() && whole.IsLost() == pieces.IsLost());
  return 0;
}
