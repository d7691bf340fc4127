// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/GdcmEngine.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ImageDescription.h"
#include "Transcoding/Program/Gdcm/DataSetConversion.h"
#include "Transcoding/Program/Gdcm/PixelTranscoding.h"
#include "Tuning/WritableSyntax.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/oflog/oflog.h>
#include <gdcmTrace.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::string_view IMPLICIT_VR = "1.2.840.10008.1.2";
    constexpr std::string_view EXPLICIT_VR = "1.2.840.10008.1.2.1";
    constexpr std::string_view EXPLICIT_BIG_ENDIAN = "1.2.840.10008.1.2.2";
    constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;

    // Of decoded frames: some megabytes may well come from a few bytes, gigabytes may not
    std::size_t GetLimit(std::size_t size)
    {
      constexpr std::size_t ALWAYS = std::size_t(256) << 20;
      constexpr std::size_t FACTOR = 8;
      return ALWAYS + FACTOR * size;
    }

    // In Explicit VR Little Endian, but for File Meta Information and Pixel Data
    bool IsEditable(std::string_view syntax)
    {
      return syntax == EXPLICIT_VR || IsEncapsulated(syntax);
    }

    void Check(const ImageDescription& image, const std::string& target)
    {
      const std::string_view syntax = image.transferSyntax.data();

      if (image.isDeflated)
      {
        // A few bytes may become gigabytes, to which dcmdata sets no limit
        throw NotCovered("inflating is left to dcmtk");
      }

      if (syntax != IMPLICIT_VR && syntax != EXPLICIT_VR && syntax != EXPLICIT_BIG_ENDIAN &&
          GetCodestreamKind(syntax) == CodestreamKind::None)
      {
        throw NotCovered("GDCM does not read this transfer syntax");
      }

      if (image.bitsAllocated > 16 && syntax == EXPLICIT_BIG_ENDIAN)
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

    // "target": of an encapsulated syntax, or Explicit VR Little Endian
    std::string TranscodePixels(std::string_view file, const TranscodingTarget& target)
    {
      DataSetEditor editor(file.data(), file.size());
      const ImageDescription image = DescribeImage(file.data(), file.size());

      if (image.kind == PixelDataKind::Encapsulated || image.kind == PixelDataKind::Native)
      {
        PixelTranscoding(editor, image, GetLimit(file.size())).Run(target);
      }

      editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", target.transferSyntax);
      return editor.Write();
    }

    std::string Transcode(std::string_view file, const TranscodingTarget& target)
    {
      const ImageDescription source = DescribeImage(file.data(), file.size());
      const std::string_view syntax = source.transferSyntax.data();

      if (syntax == target.transferSyntax)
      {
        return std::string(file);
      }

      Check(source, target.transferSyntax);

      if (!IsEncapsulated(syntax) && !IsEncapsulated(target.transferSyntax))
      {
        return ConvertDataSet(file, target.transferSyntax);
      }

      if (!IsEditable(syntax))
      {
        return TranscodePixels(ConvertDataSet(file, EXPLICIT_VR), target);
      }

      if (IsEditable(target.transferSyntax))
      {
        return TranscodePixels(file, target);
      }

      return ConvertDataSet(TranscodePixels(file, {std::string(EXPLICIT_VR)}),
                            target.transferSyntax);
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
    return FindWritableSyntax(transferSyntax) != nullptr;
  }


  EngineResult GdcmEngine::Transcode(const void* data, std::size_t size,
                                     const TranscodingTarget& target) const noexcept
  {
    try
    {
      if (!CanWrite(target.transferSyntax))
      {
        return EngineResult::MakeDeclined("GDCM does not write this transfer syntax");
      }

      return EngineResult::MakeTranscoded(
          OrthancPerf::Transcode({static_cast<const char*>(data), size}, target));
    }
    catch (const NotCovered& error)
    {
      return EngineResult::MakeDeclined(error.what());
    }
    catch (const std::runtime_error& error)  // CodecError, DataSetError
    {
      return EngineResult::MakeFailed(error.what());
    }
    catch (const std::bad_alloc&)
    {
      return EngineResult::MakeFailed("There was not enough memory");
    }
    catch (...)
    {
      return EngineResult::MakeFailed("GDCM could not read or write the file");
    }
  }
}
