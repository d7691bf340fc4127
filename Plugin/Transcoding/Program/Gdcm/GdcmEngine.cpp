// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/GdcmEngine.h"

#include "Dicom/CodecError.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ImageDescription.h"
#include "Dicom/TransferSyntax.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"
#include "Transcoding/Program/Gdcm/PixelTranscoding.h"
#include "Transcoding/Program/RunWorker.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/oflog/oflog.h>
#include <gdcmTrace.h>

namespace OrthancPerf
{
  namespace
  {
    // Of decoded frames: some megabytes may well come from a few bytes, gigabytes may not
    std::size_t GetLimit(std::size_t size)
    {
      constexpr std::size_t ALWAYS = std::size_t(256) << 20;
      constexpr std::size_t FACTOR = 8;
      return ALWAYS + FACTOR * size;
    }

    void Check(const ImageDescription& image, const TransferSyntax* syntax, const char* target)
    {
      if (image.isDeflated)
      {
        // A few bytes may become gigabytes, to which dcmdata sets no limit
        throw NotCovered("inflating is left to dcmtk");
      }

      if (!IsReadable(syntax))
      {
        throw NotCovered("GDCM does not read this transfer syntax");
      }

      if (image.bitsAllocated > 16 && syntax->coding == DataSetCoding::ExplicitBigEndian)
      {
        throw NotCovered(
            "The order of words in big endian pixels of more than 16 bits is uncertain");
      }

      const std::string obstacle = FindObstacle(image, target);

      if (!obstacle.empty())
      {
        throw NotCovered(obstacle);
      }
    }

    // Both in Explicit VR Little Endian, but for File Meta Information and Pixel Data
    std::string TranscodePixels(std::string_view file, const TransferSyntax& target,
                                unsigned int quality)
    {
      DataSetEditor editor(file.data(), file.size());
      const ImageDescription image = DescribeImage(file.data(), file.size());

      if (image.kind == PixelDataKind::Encapsulated || image.kind == PixelDataKind::Native)
      {
        PixelTranscoding(editor, image, GetLimit(file.size())).Run(target, quality);
      }

      editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", target.uid);
      return editor.Write();
    }

    std::string Transcode(std::string_view file, const TransferSyntax& target, unsigned int quality)
    {
      const ImageDescription image = DescribeImage(file.data(), file.size());
      const TransferSyntax* const source = FindTransferSyntax(image.transferSyntax.data());

      if (source == &target)
      {
        return std::string(file);
      }

      Check(image, source, target.uid);

      if (!source->isEncapsulated && !target.isEncapsulated)
      {
        return ConvertFile(file, target.uid);
      }

      const TransferSyntax& plain = *FindTransferSyntax(TransferSyntaxUid::EXPLICIT_LITTLE_ENDIAN);

      if (source->coding != plain.coding)
      {
        return TranscodePixels(ConvertFile(file, plain.uid), target, quality);
      }

      return target.coding == plain.coding
                 ? TranscodePixels(file, target, quality)
                 : ConvertFile(TranscodePixels(file, plain, quality), target.uid);
    }
  }


  GdcmEngine::GdcmEngine()
  {
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
    OFLog::configure(OFLogger::OFF_LOG_LEVEL);  // values of elements among it
  }


  bool GdcmEngine::CanWrite(const std::string& transferSyntax) const noexcept
  {
    const TransferSyntax* const syntax = FindTransferSyntax(transferSyntax);
    return syntax != nullptr && syntax->isWritable;
  }


  EngineResult GdcmEngine::Transcode(const void* data, std::size_t size,
                                     const TranscodingTarget& target) const noexcept
  {
    if (!CanWrite(target.transferSyntax))
    {
      return EngineResult::MakeDeclined("GDCM does not write this transfer syntax");
    }

    return MakeResult(
        [&]
        {
          return OrthancPerf::Transcode({static_cast<const char*>(data), size},
                                        *FindTransferSyntax(target.transferSyntax),
                                        target.lossyQuality);
        });
  }
}
