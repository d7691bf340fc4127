// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a received DICOM file: nothing may be read outside, and the texts end with a zero.
#include "Dicom/DicomFile.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const OrthancPerf::DicomFileCheck check = OrthancPerf::CheckDicomFile(data, size);

  if (std::memchr(check.sopInstanceUid.data(), 0, check.sopInstanceUid.size()) == nullptr ||
      std::memchr(check.transferSyntaxUid.data(), 0, check.transferSyntaxUid.size()) == nullptr)
  {
    std::abort();
  }

  const std::string id = check.hasher.GetInstanceId();

  if (!id.empty() && id.size() != 44)  // five groups of eight digits
  {
    std::abort();
  }

  if (check.verdict == OrthancPerf::DicomFileVerdict::Readable && check.sopInstanceUid[0] == '\0' &&
      size == 0)
  {
    std::abort();
  }

  return 0;
}
