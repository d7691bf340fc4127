// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes, in one piece and cut in two, give the same answer.
#include "Fuzz/Require.h"
#include "Network/Messages/CommandField.h"
#include "Network/Messages/SubOperation.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  using OrthancPerf::CommandFieldReader;

  CommandFieldReader whole;
  whole.Feed(data, size);

  const std::size_t cut = size == 0 ? 0 : data[0] * size / 256;
  CommandFieldReader pieces;
  pieces.Feed(data, cut);
  pieces.Feed(data + cut, size - cut);
  OrthancPerf::Require(whole.Get() == pieces.Get());

  const OrthancPerf::TimePoint now;
  OrthancPerf::SubOperation atOnce;
  atOnce.OnWritten(data, size, now);

  OrthancPerf::SubOperation twice;
  twice.OnWritten(data, cut, now);
  twice.OnWritten(data + cut, size - cut, now);
  OrthancPerf::Require(atOnce.IsInstance() == twice.IsInstance() &&
                       atOnce.GetSize() == twice.GetSize());
  return 0;
}
