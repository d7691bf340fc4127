// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a received DICOM file: nothing may be read outside, and the texts end with a zero.
#include "Dicom/DicomFile.h"
#include "Fuzz/Require.h"

#include <cstdint>
#include <cstring>
#include <string>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const OrthancPerf::DicomFileCheck check = OrthancPerf::CheckDicomFile(data, size);

  OrthancPerf::Require(
      std::memchr(check.sopInstanceUid.data(), 0, check.sopInstanceUid.size()) != nullptr &&
      std::memchr(check.transferSyntaxUid.data(), 0, check.transferSyntaxUid.size()) != nullptr);

  const std::string id = check.hasher.GetInstanceId();
  OrthancPerf::Require(id.empty() || id.size() == 44);  // five groups of eight digits
  OrthancPerf::Require(check.verdict != OrthancPerf::DicomFileVerdict::Readable ||
                       check.sopInstanceUid[0] != '\0' || size != 0);
  return 0;
}
