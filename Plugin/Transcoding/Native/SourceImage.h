// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSetEditor.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Transcoding/Native/RasterFrame.h"

#include <cstddef>
#include <stdexcept>
#include <string_view>

namespace OrthancPerf
{
  // Why the native encoder leaves an image to others, in words without patient data
  class ImageDeclined : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };


  // The native Pixel Data of a file in Explicit VR Little Endian, and what the data set says of it,
  // held against each other: what the frames are made of lies inside the file, whatever it claims.
  //
  // Lives on the stack of one thread; any thread may read it.
  class SourceImage
  {
  public:
    // The editor's file has to outlive the image. Throws ImageDeclined for what the native encoder
    // does not cover, DataSetError for what is wrong.
    explicit SourceImage(const DataSetEditor& file);

    std::size_t GetFrameCount() const noexcept
    {
      return frames_;
    }

    RasterFrame GetFrame(std::size_t index) const noexcept;

    std::size_t GetFrameSize() const noexcept;  // bytes

    Photometric GetPhotometricInterpretation() const noexcept
    {
      return photometric_;
    }

  private:
    void CheckPixels(const DataSetEditor& file);
    void CheckSize(std::string_view pixels);

    RasterFrame first_;
    std::size_t frames_ = 1;
    Photometric photometric_;
  };
}
