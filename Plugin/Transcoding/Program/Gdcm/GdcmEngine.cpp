// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/GdcmEngine.h"

#include "Dicom/CodecError.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ImageDescription.h"
#include "Transcoding/Program/Gdcm/DataSetConverter.h"
#include "Transcoding/Program/Gdcm/PixelTranscoding.h"
#include "Tuning/WritableSyntax.h"

#include <algorithm>
#include <array>
#include <gdcmTrace.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::string_view IMPLICIT_VR = "1.2.840.10008.1.2";
    constexpr std::string_view EXPLICIT_VR = "1.2.840.10008.1.2.1";
    constexpr std::string_view DEFLATED = "1.2.840.10008.1.2.1.99";
    constexpr std::string_view EXPLICIT_BIG_ENDIAN = "1.2.840.10008.1.2.2";
    constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;

    // Of decoded frames, and of a data set that was deflated: some megabytes may well come from a
    // few bytes, gigabytes may not
    std::size_t GetLimit(std::size_t size)
    {
      constexpr std::size_t ALWAYS = std::size_t(256) << 20;
      constexpr std::size_t FACTOR = 8;
      return ALWAYS + FACTOR * size;
    }

    bool IsReadable(std::string_view syntax)
    {
      return syntax == IMPLICIT_VR || syntax == EXPLICIT_VR || syntax == DEFLATED ||
             syntax == EXPLICIT_BIG_ENDIAN || IsEncapsulated(syntax);
    }

    bool IsWrittenAsExplicit(std::string_view syntax)
    {
      return syntax != IMPLICIT_VR && syntax != DEFLATED && syntax != EXPLICIT_BIG_ENDIAN;
    }

    void TranscodePixels(DataSetEditor& editor, const ImageDescription& image,
                         const TranscodingTarget& target, std::size_t limit)
    {
      const bool isEncapsulated = IsEncapsulated(target.transferSyntax);

      if (image.kind == PixelDataKind::Encapsulated ||
          (image.kind == PixelDataKind::Native && isEncapsulated))
      {
        PixelTranscoding(editor, image, limit).Run(target);
      }
      else if (isEncapsulated)
      {
        throw NotCovered("There is no Pixel Data to compress");
      }
    }

    std::string Transcode(std::string_view file, const TranscodingTarget& target)
    {
      const std::size_t limit = GetLimit(file.size());
      const ImageDescription source = DescribeImage(file.data(), file.size());
      const std::string_view syntax = source.transferSyntax.data();

      if (!IsReadable(syntax))
      {
        throw NotCovered("GDCM does not read this transfer syntax");
      }

      if (syntax == target.transferSyntax)
      {
        return std::string(file);
      }

      std::string converted;

      if (!IsWrittenAsExplicit(syntax))
      {
        converted = ConvertToExplicit(file, syntax, limit);
        file = converted;
      }

      DataSetEditor editor(file.data(), file.size());
      const ImageDescription image = DescribeImage(file.data(), file.size());

      if (image.kind == PixelDataKind::Native && IsEncapsulated(syntax))
      {
        throw CodecError("Pixel Data is not encapsulated, as its transfer syntax demands");
      }

      if (image.kind == PixelDataKind::Encapsulated && !IsEncapsulated(syntax))
      {
        throw CodecError("Pixel Data is encapsulated, which its transfer syntax forbids");
      }

      if (syntax == EXPLICIT_BIG_ENDIAN && image.bitsAllocated > 16)
      {
        throw NotCovered(
            "The order of words in big endian pixels of more than 16 bits is uncertain");
      }

      TranscodePixels(editor, image, target, limit);

      if (IsWrittenAsExplicit(target.transferSyntax))
      {
        editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", target.transferSyntax);
        return editor.Write();
      }

      editor.Set(TAG_TRANSFER_SYNTAX_UID, "UI", EXPLICIT_VR);
      return ConvertFromExplicit(editor.Write(), target.transferSyntax);
    }
  }


  GdcmEngine::GdcmEngine()
  {
    gdcm::Trace::DebugOff();
    gdcm::Trace::WarningOff();
    gdcm::Trace::ErrorOff();
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
    catch (const CodecError& error)
    {
      return EngineResult::MakeFailed(error.what());
    }
    catch (const DataSetError& error)
    {
      return EngineResult::MakeFailed(error.what());
    }
    catch (const std::bad_alloc&)
    {
      return EngineResult::MakeFailed("There was not enough memory");
    }
    catch (const std::exception&)
    {
      return EngineResult::MakeFailed("GDCM could not read or write the file");
    }
    catch (...)
    {
      return EngineResult::MakeFailed("GDCM failed for an unknown reason");
    }
  }
}
