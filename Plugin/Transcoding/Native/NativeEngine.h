// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/ReceivedFile.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/Native/DifferenceCoder.h"

#include <atomic>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The frames of an uncompressed image, little endian, of 8 or 16 Bits Allocated and 1 or 3
  // samples. Throws CodecError for another one, or if they do not lie inside the file, whatever it
  // claims.
  std::vector<RasterFrame> FindRasterFrames(const ImageDescription& image);

  // Runs the pieces of one work in parallel, on threads of their own, where processor cores are
  // free. The callers and their threads together are at most as many as there are cores. The caller
  // works, too; while all cores are taken, a new caller works alone.
  //
  // Any thread may call it, several at once.
  class SpareWorkers
  {
  public:
    // Zero: as many cores as the processor has hardware threads
    explicit SpareWorkers(std::size_t cores = 0);

    // Calls "work" with each number from 0 to count - 1, from several threads, in no order, and
    // comes back when all calls have. If one throws, no more pieces are begun and its exception
    // goes to the caller.
    void Run(std::size_t count, const std::function<void(std::size_t)>& work);

  private:
    const std::size_t cores_;
    std::atomic<std::size_t> busy_{0};  // threads at work, the callers' among them
  };

  // The project's own encoder of JPEG Lossless, process 14, selection value 1, the transfer syntax
  // that archives use most. It covers images of 8 or 16 bits allocated, with one component or in
  // RGB or YBR_FULL, of any number of frames, and declines all others. It reads Explicit VR Little
  // Endian, which a converter first makes of other files.
  //
  // The data set stays as it is but for Pixel Data, Planar Configuration, and the lengths of their
  // groups.
  class NativeEngine : public ITranscodingEngine
  {
  public:
    // "converters": engines that can write Explicit VR Little Endian, tried in this order; they
    // outlive this one. "cores": how many threads may be at work for all callers together; zero: as
    // many as there are hardware threads.
    explicit NativeEngine(std::vector<const ITranscodingEngine*> converters = {},
                          std::size_t cores = 0);

    const char* GetName() const noexcept override
    {
      return "native";
    }

    // Encodes the samples of the self-test and compares the bytes with those of the build that was
    // verified: an encoder that a compiler got wrong is not used. No codec library is needed.
    std::string GetProblem() const override;

    EngineResult Transcode(const void* data, std::size_t size,
                           const TranscodingTarget& target) const noexcept override;

  private:
    EngineResult TranscodeAny(const void* data, std::size_t size, TimePoint deadline) const;
    EngineResult Encode(const ReceivedFile& file, TimePoint deadline) const;

    const std::vector<const ITranscodingEngine*> converters_;
    mutable SpareWorkers workers_;
  };
}
