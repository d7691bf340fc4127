// SPDX-License-Identifier: GPL-3.0-or-later
// What stands between encapsulated Pixel Data of strangers and the codec libraries
#include "Dicom/CodecError.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/RleFrame.h"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace
{
  template <typename Function>
  void Try(Function function)
  {
    try
    {
      function();
    }
    catch (const OrthancPerf::CodecError&)
    {
    }
    catch (const OrthancPerf::NotCovered&)
    {
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::size_t count = size == 0 ? 1 : 1 + data[0] % 4;

  for (const OrthancPerf::CodestreamKind kind :
       {OrthancPerf::CodestreamKind::Jpeg, OrthancPerf::CodestreamKind::JpegLs,
        OrthancPerf::CodestreamKind::Jpeg2000})
  {
    Try([&] { OrthancPerf::ReadCodestreamHeader(kind, bytes); });
  }

  Try([&] { OrthancPerf::FindFrames(bytes, "1.2.840.10008.1.2.4.70", count); });
  Try([&] { OrthancPerf::JoinRleSegments(OrthancPerf::SplitRleFrame(bytes, count, 16)); });
  Try([&] { OrthancPerf::DecodeRleFrame(bytes, 16, 1, count); });
  return 0;
}
