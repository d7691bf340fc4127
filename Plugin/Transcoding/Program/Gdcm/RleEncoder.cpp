// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/FrameEncoders.h"

#include "Dicom/RleFrame.h"
#include "Transcoding/Program/Gdcm/EncoderTools.h"
#include "Transcoding/Program/Gdcm/SampleLayout.h"

#include <gdcmRLECodec.h>
#include <string>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    class RleEncoder : public FrameEncoder
    {
    public:
      explicit RleEncoder(const FramesToEncode& frames) : frames_(frames)
      {
        CheckDimensions(frames.format);
      }

      // By plane: GDCM ends the process at pixels of an odd size, so these get another row, which
      // is cut off again. Rows are encoded each for itself (DICOM PS3.5 section G.3.1).
      std::string Encode(std::string_view frame) const override
      {
        FrameFormat plane = frames_.format;
        plane.samples = 1;
        const std::size_t size = plane.rows * plane.columns;
        const bool isOdd = plane.GetFrameSize() % 2 != 0;
        plane.rows += isOdd ? 1 : 0;

        std::vector<std::string> encoded;
        RleSegments segments;

        for (unsigned int sample = 0; sample < frames_.format.samples; sample++)
        {
          std::string samples = ExtractPlane(frame, frames_.format, sample);
          samples.resize(plane.GetFrameSize(), '\0');

          gdcm::RLECodec codec;
          SetUp(codec, plane, plane.bitsAllocated, false,
                gdcm::PhotometricInterpretation::MONOCHROME2);
          encoded.push_back(EncodeFrame(codec, samples));
        }

        for (const std::string& part : encoded)
        {
          for (const std::string_view segment :
               SplitRleFrame(part, plane.GetSampleSize(), plane.rows * plane.columns))
          {
            segments.push_back(CutRleSegment(segment, size));
          }
        }

        return JoinRleSegments(segments);
      }

      std::string GetPhotometricInterpretation() const override
      {
        return frames_.photometricInterpretation;
      }

      // DICOM PS3.5 section G.2
      unsigned int GetPlanarConfiguration() const override
      {
        return 1;
      }

    private:
      const FramesToEncode frames_;
    };
  }


  std::unique_ptr<FrameEncoder> MakeRleEncoder(const FramesToEncode& frames)
  {
    return std::make_unique<RleEncoder>(frames);
  }
}
