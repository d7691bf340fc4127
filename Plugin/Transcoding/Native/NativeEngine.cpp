// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/NativeEngine.h"

#include "Dicom/DataSetEditor.h"
#include "Dicom/ElementWriter.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Transcoding/Engines/SampleImage.h"
#include "Transcoding/Native/JpegLosslessEncoder.h"

#include <boost/crc.hpp>

#include <algorithm>
#include <exception>
#include <future>
#include <stdexcept>
#include <thread>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Bytes of pixels below which a second thread costs more than it brings
    constexpr std::size_t WORTH_A_THREAD = 1 << 20;

    // CRC-32 of the encapsulated Pixel Data of all samples of the self-test. NativeEngineTest has
    // other decoders read them: after a change of the encoder, that test names the new value.
    constexpr std::uint32_t SAMPLES_CHECKSUM = 4081117710;

    void CheckTime(TimePoint deadline)
    {
      if (Clock::now() >= deadline)
      {
        throw std::runtime_error("the time for this instance was over");
      }
    }

    using Frames = std::vector<RasterFrame>;

    void EncodeInTurn(const Frames& frames, EncapsulatedPixels& pixels, TimePoint deadline)
    {
      for (const RasterFrame& frame : frames)
      {
        CheckTime(deadline);
        EncodeJpegLossless(frame, pixels.BeginFrame());
        pixels.EndFrame();
      }
    }

    void EncodeInParallel(const Frames& frames, SpareWorkers& workers, EncapsulatedPixels& pixels,
                          TimePoint deadline)
    {
      std::vector<std::string> encoded(frames.size());
      workers.Run(frames.size(),
                  [&](std::size_t i)
                  {
                    CheckTime(deadline);
                    EncodeJpegLossless(frames[i], encoded[i]);
                  });

      for (std::string& frame : encoded)
      {
        pixels.BeginFrame().append(frame);
        pixels.EndFrame();
        frame = std::string();  // its memory, too
      }
    }
  }

  std::vector<RasterFrame> FindRasterFrames(const ImageDescription& image)
  {
    RasterFrame frame;
    frame.pixels = reinterpret_cast<const std::uint8_t*>(image.pixelData.data());
    frame.rows = image.rows;
    frame.columns = image.columns;
    frame.samples = image.samplesPerPixel;
    frame.bytesPerSample = image.bitsAllocated / 8;
    frame.isPlanar = frame.samples == 3 && image.planarConfiguration == 1;
    frame.isRgb = ParsePhotometric(image.photometricInterpretation) == Photometric::Rgb;
    const std::size_t size = frame.GetSize();

    if ((image.bitsAllocated != 8 && image.bitsAllocated != 16) ||
        (frame.samples != 1 && frame.samples != 3) || size == 0 || image.frames == 0 ||
        image.frames > image.pixelData.size() / size)
    {
      throw CodecError("Pixel Data has not the frames that are described");
    }

    std::vector<RasterFrame> frames(image.frames, frame);

    for (std::size_t i = 0; i < frames.size(); i++)
    {
      frames[i].pixels += i * size;
    }

    return frames;
  }

  SpareWorkers::SpareWorkers(std::size_t cores) :
    cores_(std::max<std::size_t>(cores == 0 ? std::thread::hardware_concurrency() : cores, 1))
  {
  }

  void SpareWorkers::Run(std::size_t count, const std::function<void(std::size_t)>& work)
  {
    std::atomic<std::size_t> next{0};

    // Takes piece after piece, on a core that is taken already and that it gives back
    const auto workOn = [this, count, &work, &next]
    {
      try
      {
        for (std::size_t i = next++; i < count; i = next++)
        {
          work(i);
        }
      }
      catch (...)
      {
        next = count;
        busy_--;
        throw;
      }

      busy_--;
    };

    std::vector<std::future<void>> helpers;  // whatever is thrown, their ends are waited for
    helpers.reserve(std::min(cores_, count));
    busy_++;

    for (bool isFree = true; isFree && helpers.size() + 1 < count;)
    {
      isFree = busy_++ < cores_;

      try
      {
        if (isFree)
        {
          helpers.push_back(std::async(std::launch::async, workOn));
        }
      }
      catch (const std::exception&)
      {
        isFree = false;  // no thread or no memory to be had: the caller does it alone
      }

      busy_ -= isFree ? 0 : 1;
    }

    workOn();

    for (std::future<void>& helper : helpers)
    {
      helper.get();
    }
  }

  NativeEngine::NativeEngine(std::vector<const ITranscodingEngine*> converters, std::size_t cores) :
    converters_(std::move(converters)),
    workers_(cores)
  {
  }

  std::string NativeEngine::GetProblem() const
  {
    boost::crc_32_type checksum;

    for (const SampleShape& shape : GetSelfTestShapes())
    {
      const std::string sample = MakeSampleImage(shape);
      const EngineResult result =
          Transcode(sample.data(), sample.size(), {TransferSyntaxUid::JPEG_LOSSLESS_SV1});
      const ImageDescription image = DescribeImage(result.file.data(), result.file.size());
      checksum.process_bytes(image.encapsulatedPixels.data(), image.encapsulatedPixels.size());
    }

    return checksum.checksum() == SAMPLES_CHECKSUM
               ? ""
               : "the encoder writes other bytes than it should (CRC-32 " +
                     std::to_string(checksum.checksum()) + ")";
  }

  EngineResult NativeEngine::Transcode(const void* data, std::size_t size,
                                       const TranscodingTarget& target) const noexcept
  {
    return EngineResult::Of(
        [&]
        {
          return target.transferSyntax == TransferSyntaxUid::JPEG_LOSSLESS_SV1
                     ? TranscodeAny(data, size, target.deadline)
                     : EngineResult::MakeDeclined("native writes JPEG Lossless only");
        });
  }

  EngineResult NativeEngine::TranscodeAny(const void* data, std::size_t size,
                                          TimePoint deadline) const
  {
    const ReceivedFile file(data, size);
    const std::string& source = file.image.transferSyntax;

    if (source == TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN || source.empty())
    {
      return Encode(file, deadline);
    }

    EngineResult converted = Uncompress(converters_, data, size, deadline);

    if (converted.outcome != TranscodingOutcome::Transcoded)
    {
      return converted;
    }

    return Encode(ReceivedFile(converted.file), deadline);
  }

  EngineResult NativeEngine::Encode(const ReceivedFile& file, TimePoint deadline) const
  {
    const ImageDescription& image = file.image;
    DataSetEditor editor(file);
    const Frames frames = FindRasterFrames(image);
    EncapsulatedPixels pixels(frames.size());

    if (image.pixelData.size() < WORTH_A_THREAD || frames.size() == 1)
    {
      EncodeInTurn(frames, pixels, deadline);
    }
    else
    {
      EncodeInParallel(frames, workers_, pixels, deadline);
    }

    if (image.samplesPerPixel > 1)
    {
      editor.Set(TAG_PLANAR_CONFIGURATION, "US", std::string(2, '\0'));
    }

    editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", TransferSyntaxUid::JPEG_LOSSLESS_SV1);
    editor.SetEncoded(TAG_PIXEL_DATA, pixels.Finish());
    return EngineResult::MakeTranscoded(editor.Write());
  }
}
