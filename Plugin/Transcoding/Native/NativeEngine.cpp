// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Native/NativeEngine.h"

#include "Dicom/DataSetEditor.h"
#include "Dicom/EncapsulatedPixels.h"
#include "Transcoding/Native/JpegLosslessEncoder.h"
#include "Transcoding/Native/SourceImage.h"

#include <exception>
#include <new>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;
    constexpr DicomTag TAG_PLANAR_CONFIGURATION = 0x00280006;

    // DICOM PS3.3 section C.7.6.3.1.8: of encapsulated frames only, and made for others than ours
    constexpr DicomTag TAG_EXTENDED_OFFSET_TABLE = 0x7fe00001;
    constexpr DicomTag TAG_EXTENDED_OFFSET_TABLE_LENGTHS = 0x7fe00002;

    // Bytes of pixels below which a second thread costs more than it brings
    constexpr std::size_t WORTH_A_THREAD = 1 << 20;

    ColourModel GetColourModel(Photometric photometric)
    {
      return photometric == Photometric::Rgb       ? ColourModel::Rgb
             : photometric == Photometric::YbrFull ? ColourModel::YCbCr
                                                   : ColourModel::Luminance;
    }

    void CheckTime(TimePoint deadline)
    {
      if (Clock::now() >= deadline)
      {
        throw std::runtime_error("the time for this instance was over");
      }
    }

    void EncodeInTurn(const SourceImage& image, EncapsulatedPixels& pixels, TimePoint deadline)
    {
      const ColourModel model = GetColourModel(image.GetPhotometricInterpretation());

      for (std::size_t i = 0; i < image.GetFrameCount(); i++)
      {
        CheckTime(deadline);
        EncodeJpegLossless(image.GetFrame(i), model, pixels.BeginFrame());
        pixels.EndFrame();
      }
    }

    void EncodeInParallel(const SourceImage& image, SpareWorkers& workers,
                          EncapsulatedPixels& pixels, TimePoint deadline)
    {
      const ColourModel model = GetColourModel(image.GetPhotometricInterpretation());
      std::vector<std::string> frames(image.GetFrameCount());
      workers.Run(frames.size(),
                  [&](std::size_t i)
                  {
                    CheckTime(deadline);
                    EncodeJpegLossless(image.GetFrame(i), model, frames[i]);
                  });

      for (std::string& frame : frames)
      {
        pixels.BeginFrame().append(frame);
        pixels.EndFrame();
        frame = std::string();  // its memory, too
      }
    }
  }


  NativeEngine::NativeEngine(std::vector<const ITranscodingEngine*> converters, std::size_t cores) :
    converters_(std::move(converters)),
    workers_(cores)
  {
  }


  bool NativeEngine::CanWrite(const std::string& transferSyntax) const noexcept
  {
    return transferSyntax == TransferSyntaxUid::JPEG_LOSSLESS_SV1;
  }


  EngineResult NativeEngine::Transcode(const void* data, std::size_t size,
                                       const TranscodingTarget& target) const noexcept
  {
    EngineResult result;

    try
    {
      result = CanWrite(target.transferSyntax)
                   ? TranscodeAny(data, size, target.deadline)
                   : EngineResult::MakeDeclined("native writes JPEG Lossless only");
    }
    catch (const ImageDeclined& reason)
    {
      result = EngineResult::MakeDeclined(reason.what());
    }
    catch (const std::bad_alloc&)
    {
      result.reason = "No memory";  // short enough to need none
    }
    catch (const std::exception& error)
    {
      result = EngineResult::MakeFailed(error.what());
    }

    return result;
  }


  EngineResult NativeEngine::TranscodeAny(const void* data, std::size_t size,
                                          TimePoint deadline) const
  {
    const std::string source = DataSetEditor::ReadTransferSyntax(data, size);

    if (source == TransferSyntaxUid::JPEG_LOSSLESS_SV1)
    {
      return EngineResult::MakeDeclined("The image is in this transfer syntax already");
    }

    if (source == TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN || source.empty())
    {
      return Encode(data, size, deadline);
    }

    const EngineResult converted = Convert(data, size, deadline);
    return converted.outcome == TranscodingOutcome::Transcoded
               ? Encode(converted.file.data(), converted.file.size(), deadline)
               : converted;
  }


  EngineResult NativeEngine::Convert(const void* data, std::size_t size, TimePoint deadline) const
  {
    const TranscodingTarget target = {std::string(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN), 100,
                                      deadline};
    EngineResult result =
        EngineResult::MakeDeclined("native reads Explicit VR Little Endian, and has no converter");

    for (const ITranscodingEngine* const converter : converters_)
    {
      result = converter->Transcode(data, size, target);

      if (result.outcome == TranscodingOutcome::Transcoded || Clock::now() >= deadline)
      {
        break;
      }
    }

    return result;
  }


  EngineResult NativeEngine::Encode(const void* data, std::size_t size, TimePoint deadline) const
  {
    DataSetEditor file(data, size);
    const SourceImage image(file);
    EncapsulatedPixels pixels(image.GetFrameCount());

    if (image.GetFrameCount() * image.GetFrameSize() < WORTH_A_THREAD || image.GetFrameCount() == 1)
    {
      EncodeInTurn(image, pixels, deadline);
    }
    else
    {
      EncodeInParallel(image, workers_, pixels, deadline);
    }

    if (image.GetFrame(0).samples > 1)
    {
      file.Set(TAG_PLANAR_CONFIGURATION, "US", std::string(2, '\0'));
    }

    file.RemoveGroupLengths();
    file.Remove(TAG_EXTENDED_OFFSET_TABLE);
    file.Remove(TAG_EXTENDED_OFFSET_TABLE_LENGTHS);
    file.Set(TAG_TRANSFER_SYNTAX_UID, "UI", TransferSyntaxUid::JPEG_LOSSLESS_SV1);
    file.SetEncoded(TAG_PIXEL_DATA, pixels.Finish());
    return EngineResult::MakeTranscoded(file.Write());
  }
}
