// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a DICOM file to edit: what is written can be read again, and holds what was set.
#include "Dicom/CodecError.h"
#include "Dicom/DataSetEditor.h"
#include "Fuzz/Require.h"

#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  // So that a run without a corpus has a file, too
  std::string bytes(reinterpret_cast<const char*>(data), size);

  if (bytes.find("DICM") != 128)
  {
    const std::string syntax("\2\0\x10\0UI\x14\0"
                             "1.2.840.10008.1.2.1\0",
                             28);
    bytes = std::string(128, '\0') + "DICM" + syntax + bytes;
  }

  try
  {
    OrthancPerf::DataSetEditor editor{OrthancPerf::ReceivedFile(bytes)};
    OrthancPerf::Require(editor.Write().size() >= 132);
    editor.Set(0x00080018, "UI", "1.2.3");
    editor.Remove(0x00100010);
    const std::string written = editor.Write();
    const OrthancPerf::DataSetEditor again{OrthancPerf::ReceivedFile(written)};
    OrthancPerf::Require(again.Find(0x00080018)->GetText() == "1.2.3" &&
                         again.Find(0x00100010) == nullptr);
  }
  catch (const OrthancPerf::CodecError&)
  {
  }

  return 0;
}
