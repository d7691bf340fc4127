// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/NativeEngine.h"

#include "Allocations.h"
#include "Dicom/ElementWriter.h"
#include "Threads.h"
#include "Transcoding/EncapsulatedFrames.h"
#include "Transcoding/ImageFile.h"
#include "Transcoding/Obstacles.h"

#include <atomic>
#include <gtest/gtest.h>
#include <stdexcept>
#include <thread>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    const std::string SV1 = "1.2.840.10008.1.2.4.70";

    EngineResult Transcode(const std::string& file, const NativeEngine& engine = NativeEngine())
    {
      TranscodingTarget target;
      target.transferSyntax = SV1;
      return AskEngine(engine, DescribeImage(file.data(), file.size()), file, target);
    }

    EngineResult Transcode(const ImageFile& image)
    {
      return Transcode(image.Make());
    }

    void ExpectDecoded(const ImageFile& image, const std::string& pixels)
    {
      const EngineResult result = Transcode(image);
      ASSERT_EQ(TranscodingOutcome::Transcoded, result.outcome) << result.reason;
      EXPECT_TRUE(pixels == EncapsulatedFrames(result.file).Decode());
    }

    // What another engine would make of a file: a fixed answer
    class Converter : public ITranscodingEngine
    {
    public:
      explicit Converter(EngineResult result) : result_(std::move(result))
      {
      }

      const char* GetName() const noexcept override
      {
        return "converter";
      }

      EngineResult Transcode(const void*, std::size_t,
                             const TranscodingTarget& target) const noexcept override
      {
        EXPECT_EQ("1.2.840.10008.1.2.1", target.transferSyntax);
        return result_;
      }

    private:
      const EngineResult result_;
    };

    ImageFile MakeImage()
    {
      ImageFile image;
      image.bitsStored = 12;
      image.FillWithNoise(1);
      return image;
    }

    // Would wait for ever with fewer threads
    void ExpectAtTheSameTime(SpareWorkers& workers, std::size_t threads)
    {
      std::atomic<std::size_t> arrived{0};
      workers.Run(threads,
                  [&](std::size_t)
                  {
                    for (arrived++; arrived < threads; std::this_thread::yield())
                    {
                    }
                  });
    }
  }

  // InstalledEnginesTest has DCMTK and GDCM decode what the encoder proves itself by
  TEST(NativeEngine, ProvesItselfAndWritesJpegLosslessOnly)
  {
    const NativeEngine engine;
    EXPECT_STREQ("native", engine.GetName());
    EXPECT_EQ("", engine.GetProblem());
    const std::string file = MakeImage().Make();
    EXPECT_EQ(TranscodingOutcome::Declined,
              engine.Transcode(file.data(), file.size(), {"1.2.840.10008.1.2.4.50"}).outcome);
  }

  TEST(NativeEngine, TheDataSetStaysButForItsPixelsAlsoThoseOfAnIcon)
  {
    const ImageFile image = MakeImage();
    const std::string icon = DicomFileBuilder()
                                 .Element(0x7fe00000, "UL", std::string(4, '\0'))
                                 .Element(TAG_PIXEL_DATA, "OW", "icon")
                                 .GetBytes();
    const std::string icons = DicomFileBuilder().Sequence(0x00880200, icon).GetBytes();
    const std::string pixels =
        DicomFileBuilder().Element(TAG_PIXEL_DATA, "OW", image.pixels).GetBytes();
    const EngineResult result = Transcode(DicomFileBuilder::FileMeta(image.transferSyntax) +
                                          image.MakeHeader() + icons + pixels);
    ASSERT_EQ(TranscodingOutcome::Transcoded, result.outcome) << result.reason;
    EXPECT_EQ("", result.reason);
    const std::string expected = DicomFileBuilder::FileMeta(SV1) + image.MakeHeader() + icons;
    EXPECT_EQ(expected, result.file.substr(0, expected.size()));
    EXPECT_EQ(image.pixels, EncapsulatedFrames(result.file).Decode());
  }

  // Overlays may lie above the High Bit: DICOM PS3.5 section 8.1.2, retired in 2004
  TEST(NativeEngine, BitsAboveTheHighBitSurviveAndPaddingGoes)
  {
    ImageFile image = MakeImage();
    const std::string pixels("\xff\xff\x12\x34\xff\x0f\0\xf0\xab\xcd\xef\x12", 12);
    image.pixels = pixels + std::string(10, '\0');
    ExpectDecoded(image, pixels);
    image.pixels += std::string(2, '\0');  // it could be a black frame
    EXPECT_EQ(TranscodingOutcome::Declined, Transcode(image).outcome);

    ImageFile odd;
    odd.rows = odd.columns = 3;
    odd.bitsAllocated = odd.bitsStored = 8;
    odd.pixels = "123456789X";  // padded by something else than zero
    ExpectDecoded(odd, "123456789");
  }

  TEST(NativeEngine, PlanarImagesBecomeInterleaved)
  {
    ImageFile image;
    image.rows = 1;
    image.columns = 2;
    image.samples = 3;
    image.bitsAllocated = image.bitsStored = 8;
    image.photometric = "RGB";
    image.planarConfiguration = 1;
    image.frames = "2";
    image.pixels = "RrGgBb"
                   "XxYyZz";
    const EngineResult result = Transcode(image);
    ASSERT_EQ(TranscodingOutcome::Transcoded, result.outcome) << result.reason;
    EXPECT_EQ("RGBrgb"
              "XYZxyz",
              EncapsulatedFrames(result.file).Decode());

    const DataSetEditor written{ReceivedFile(result.file)};
    EXPECT_EQ(std::string(2, '\0'), written.Find(0x00280006)->GetValue());
    EXPECT_EQ("RGB", written.Find(0x00280004)->GetText());
  }

  TEST(NativeEngine, FramesHaveOffsetsAndAreTheSameWithAnyNumberOfThreads)
  {
    ImageFile image;
    image.rows = image.columns = 128;
    image.bitsStored = 10;
    image.frames = "64";
    image.FillWithNoise(3, 64);
    const std::string file = image.Make();
    const EngineResult alone = Transcode(file, NativeEngine({}, 1));
    const NativeEngine engine({}, 4);
    RunOnThreads(4, [&](int) { EXPECT_TRUE(alone.file == Transcode(file, engine).file); });

    const EncapsulatedFrames frames(alone.file);
    EXPECT_TRUE(image.pixels == frames.Decode());
    EXPECT_EQ(64u, frames.fragments.size());
    std::string table;

    for (const std::size_t offset : frames.offsets)
    {
      AppendInteger(table, offset, 4);
    }

    EXPECT_EQ(table, frames.offsetTable);
  }

  TEST(NativeEngine, PixelsThatAreNotThereAreNotEncoded)
  {
    const ImageFile image = MakeImage();
    std::vector<ImageFile> images(10, image);
    images[0].rows = 0;
    images[1].columns = 0;
    images[2].frames = "2";
    images[3].bitsAllocated = 32;
    images[4].bitsAllocated = images[4].bitsStored = 1;
    images[5].samples = 4;
    images[6].samples = 3;
    images[6].photometric = "YBR_FULL_422";
    images[7].pixels.resize(10);
    images[8].pixels.clear();
    images[9].rows = images[9].columns = 65535;  // at once, without memory for it
    images[9].samples = 3;
    images[9].photometric = "RGB";
    images[9].frames = "2147483647";

    for (std::size_t i = 0; i < images.size(); i++)
    {
      const std::string file = images[i].Make();
      EXPECT_EQ(TranscodingOutcome::Declined, Transcode(file).outcome) << i;

      // Nor if nobody has looked before
      const EngineResult result = NativeEngine().Transcode(file.data(), file.size(), {SV1});
      EXPECT_EQ(TranscodingOutcome::Failed, result.outcome) << i;
      EXPECT_FALSE(result.reason.empty());
    }
  }

#if !defined(PERF_SANITIZED)
  TEST(NativeEngine, WhereverTheMemoryEndsNothingIsThrown)
  {
    std::vector<ImageFile> images(2, MakeImage());
    images[1].rows = 0;  // fails

    for (const ImageFile& image : images)
    {
      const std::string file = image.Make();
      const NativeEngine engine;
      const TranscodingTarget target = {SV1};
      const std::string expected = engine.Transcode(file.data(), file.size(), target).reason;
      EngineResult result;
      std::size_t allocations = 0;

      do
      {
        const NoMemory noMemory(allocations++);
        result = engine.Transcode(file.data(), file.size(), target);
      } while (result.reason == "No memory");

      EXPECT_GT(allocations, 1u);
      EXPECT_EQ(expected, result.reason);
    }
  }
#endif

  TEST(NativeEngine, OtherTransferSyntaxesNeedAConverter)
  {
    const auto transcode = [](const ImageFile& image, const NativeEngine& engine)
    {
      const std::string file = image.Make();
      return engine.Transcode(file.data(), file.size(), {SV1});
    };

    const ImageFile image = MakeImage();
    ImageFile implicitImage = image;
    implicitImage.transferSyntax = "1.2.840.10008.1.2";
    EXPECT_EQ(TranscodingOutcome::Declined, transcode(implicitImage, NativeEngine()).outcome);

    const Converter unable(EngineResult::MakeFailed("it broke"));
    const EngineResult failed = transcode(implicitImage, NativeEngine({&unable}));
    EXPECT_EQ(TranscodingOutcome::Failed, failed.outcome);
    EXPECT_EQ("converter: it broke", failed.reason);

    const Converter able(EngineResult::MakeTranscoded(image.Make()));
    const EngineResult result = transcode(implicitImage, NativeEngine({&unable, &able}));
    ASSERT_EQ(TranscodingOutcome::Transcoded, result.outcome) << result.reason;
    EXPECT_EQ(Transcode(image).file, result.file);
  }

  TEST(SpareWorkers, EveryPieceIsDoneOnce)
  {
    for (const std::size_t cores : {0, 1, 3, 8})
    {
      SpareWorkers workers(cores);

      for (const std::size_t count : {0, 1, 2, 100})
      {
        std::vector<std::atomic<int>> done(count);
        workers.Run(count, [&done](std::size_t i) { done[i]++; });

        for (const std::atomic<int>& piece : done)
        {
          EXPECT_EQ(1, piece);
        }
      }
    }
  }

  TEST(SpareWorkers, PiecesRunAtTheSameTimeWhereCoresAreFreeOrByTheirCaller)
  {
    SpareWorkers workers(3);
    ExpectAtTheSameTime(workers, 3);

    SpareWorkers none(1);
    const std::thread::id caller = std::this_thread::get_id();
    none.Run(10, [caller](std::size_t) { EXPECT_EQ(caller, std::this_thread::get_id()); });
  }

  TEST(SpareWorkers, NoMoreThreadsThanCoresAreAtWork)
  {
    SpareWorkers workers(2);
    std::atomic<int> atWork{0};
    std::atomic<int> most{0};
    const auto work = [&](std::size_t)
    {
      const int now = ++atWork;
      int seen = most;

      while (seen < now && !most.compare_exchange_weak(seen, now))
      {
      }

      std::this_thread::yield();
      atWork--;
    };
    RunOnThreads(4, [&](int) { workers.Run(200, work); });

    // Four callers, and the one helper that the first of them may have found a core for
    EXPECT_LE(most, 5);
  }

  TEST(SpareWorkers, AnExceptionGoesToTheCallerAndEndsTheWork)
  {
    SpareWorkers workers(2);
    std::atomic<std::size_t> done{0};
    EXPECT_THROW(workers.Run(1000000,
                             [&done](std::size_t)
                             {
                               done++;
                               throw std::runtime_error("piece");
                             }),
                 std::runtime_error);
    EXPECT_LE(done, 2u);

    // and leaves no core taken
    ExpectAtTheSameTime(workers, 2);
  }
}
