// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as a file to be transcoded, compared, and described as lossy: nothing may be read
// outside, and what is written can be read again.
#include "Dicom/CodecError.h"
#include "Dicom/DataSetEditor.h"
#include "Fuzz/Require.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/LossyDerivation.h"
#include "Transcoding/Obstacles.h"
#include "Transcoding/PixelComparison.h"
#include "Transcoding/Verification.h"

#include <cstdint>

namespace
{
  constexpr const char* JPEG_BASELINE = "1.2.840.10008.1.2.4.50";

  void Compare(const std::uint8_t* data, std::size_t size)
  {
    static const std::string sample = OrthancPerf::MakeSampleImage({});
    const OrthancPerf::ReceivedFile file(data, size);
    const auto& image = file.image;
    const auto other = OrthancPerf::DescribeImage(sample.data(), sample.size());

    OrthancPerf::FindReasonToLeaveAlone(image, JPEG_BASELINE);
    OrthancPerf::FindObstacle(image, JPEG_BASELINE);
    OrthancPerf::FindDifference(other, image);
    OrthancPerf::MeasureError(other, image);

    OrthancPerf::Require(!OrthancPerf::IsComparable(image) ||
                         OrthancPerf::FindDifference(image, image).empty());
  }

  void Derive(const std::uint8_t* data, std::size_t size)
  {
    const OrthancPerf::ReceivedFile file(data, size);

    try
    {
      const std::string derived =
          OrthancPerf::DescribeLossyDerivation(file, file, {JPEG_BASELINE, 90, "2.25.1"});

      OrthancPerf::FindFlaw(OrthancPerf::ReceivedFile(derived), JPEG_BASELINE, "2.25.1");
      const OrthancPerf::DataSetEditor again{OrthancPerf::ReceivedFile(derived)};
      OrthancPerf::Require(again.Find(0x00080018)->GetText() == "2.25.1");
    }
    catch (const OrthancPerf::CodecError&)
    {
      // Not a file that an engine could have made
    }
    catch (const std::length_error&)
    {
      // A value that has no room for more
    }
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  Compare(data, size);
  Derive(data, size);
  return 0;
}
