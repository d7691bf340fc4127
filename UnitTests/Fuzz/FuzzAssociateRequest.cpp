// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes, in one piece and cut in two, give the same answer.
#include "Fuzz/Require.h"
#include "Network/Messages/AssociateRequest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  using namespace OrthancPerf;

  AssociateRequestParser whole;
  whole.Feed(data, size);

  const std::size_t cut = (size == 0 ? 0 : data[0] * size / 256);
  AssociateRequestParser pieces;
  pieces.Feed(data, cut);
  pieces.Feed(data + cut, size - cut);

  Require(whole.GetStatus() == pieces.GetStatus() &&
          whole.GetRequest().callingTitle.View() == pieces.GetRequest().callingTitle.View() &&
          whole.GetRequest().implementationVersionName.View() ==
              pieces.GetRequest().implementationVersionName.View());
  return 0;
}
