// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a received DICOM file: nothing may be read outside, and what was read whole is
// read to its last byte.
#include "Dicom/ReceivedFile.h"
#include "Fuzz/Require.h"

#include <cstdint>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const OrthancPerf::ReceivedFile file(data, size);
  const std::string id = file.identity.GetInstanceId();
  OrthancPerf::Require(id.empty() || id.size() == 44);  // five groups of eight digits
  OrthancPerf::Require(!file.IsComplete() || file.dataSet.elements.empty() ||
                       file.dataSet.elements.back().bytes.end() == file.bytes.end());
  return 0;
}
