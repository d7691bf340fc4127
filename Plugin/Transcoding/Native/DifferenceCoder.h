// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace OrthancPerf
{
  // One frame of native Pixel Data, as DICOM PS3.5 section 8 lays it out: samples of one or two
  // bytes, little endian, row by row. A view: the pixels belong to the file.
  struct RasterFrame
  {
    const std::uint8_t* pixels = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t samples = 1;         // of a pixel: 1 or 3
    std::size_t bytesPerSample = 1;  // 1 or 2
    bool isPlanar = false;           // Planar Configuration 1: all of one sample, then the next
    bool isRgb = false;

    std::size_t GetSize() const noexcept  // bytes
    {
      return rows * columns * samples * bytesPerSample;
    }
  };

  // SSSS, the number of bits that tell a difference apart from others of its size, goes from 0 to
  // 16: ITU-T T.81 table H.2
  constexpr std::size_t CATEGORY_COUNT = 17;

  // How often each category occurs
  using CategoryCounts = std::array<std::uint64_t, CATEGORY_COUNT>;

  // The differences between the samples of a frame and their predictions, by predictor 1, the
  // sample to the left (ITU-T T.81 section H.1.2.1), modulo 65536. Those of colour images come
  // interleaved, as one scan of all components wants them, whatever the order in the frame.
  //
  // Lives on the stack of one thread; keeps one row in memory.
  class DifferenceCoder
  {
  public:
    explicit DifferenceCoder(const RasterFrame& frame);

    // A row's differences, "columns * samples" of them. Valid until the next call.
    const std::uint16_t* ComputeRow(std::size_t row);

    // Differences in one row
    std::size_t GetCount() const noexcept
    {
      return row_.size();
    }

    // The categories of all differences of the frame, for each component
    std::vector<CategoryCounts> CountCategories();

    // The category of a difference
    static const std::array<std::uint8_t, 65536>& GetCategories() noexcept;

  private:
    template <typename Sample, std::size_t Planes>
    void Compute(std::size_t row);

    template <std::size_t Samples>
    std::vector<CategoryCounts> Count();

    const RasterFrame frame_;
    std::vector<std::uint16_t> row_;
  };
}
