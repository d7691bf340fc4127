// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/LossyDerivation.h"

#include "Dicom/CodecError.h"
#include "Dicom/DataSetEditor.h"
#include "Dicom/ElementWriter.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iomanip>
#include <sstream>

namespace OrthancPerf
{
  namespace
  {
    constexpr DicomTag TAG_IMAGE_TYPE = 0x00080008;
    constexpr DicomTag TAG_CODE_VALUE = 0x00080100;
    constexpr DicomTag TAG_CODING_SCHEME_DESIGNATOR = 0x00080102;
    constexpr DicomTag TAG_CODE_MEANING = 0x00080104;
    constexpr DicomTag TAG_REFERENCED_SOP_CLASS_UID = 0x00081150;
    constexpr DicomTag TAG_REFERENCED_SOP_INSTANCE_UID = 0x00081155;
    constexpr DicomTag TAG_DERIVATION_DESCRIPTION = 0x00082111;
    constexpr DicomTag TAG_SOURCE_IMAGE_SEQUENCE = 0x00082112;
    constexpr DicomTag TAG_DERIVATION_CODE_SEQUENCE = 0x00089215;
    constexpr DicomTag TAG_SMALLEST_IMAGE_PIXEL_VALUE = 0x00280106;
    constexpr DicomTag TAG_LARGEST_IMAGE_PIXEL_VALUE = 0x00280107;
    constexpr DicomTag TAG_LOSSY_IMAGE_COMPRESSION_RATIO = 0x00282112;
    constexpr DicomTag TAG_LOSSY_IMAGE_COMPRESSION_METHOD = 0x00282114;
    constexpr DicomTag TAG_PURPOSE_OF_REFERENCE_CODE_SEQUENCE = 0x0040a170;

    // Of an ST: DICOM PS3.5 section 6.2
    constexpr std::size_t MAXIMUM_DESCRIPTION = 1024;

    struct LossySyntax
    {
      const char* uid;
      const char* name;
      const char* method;  // DICOM PS3.3 section C.7.6.1.1.5.1
    };

    constexpr std::array<LossySyntax, 4> LOSSY_SYNTAXES = {{
        {TransferSyntaxUid::JPEG_BASELINE, "JPEG Baseline", "ISO_10918_1"},
        {TransferSyntaxUid::JPEG_EXTENDED, "JPEG Extended", "ISO_10918_1"},
        {TransferSyntaxUid::JPEG_LS_NEAR_LOSSLESS, "JPEG-LS near-lossless", "ISO_14495_1"},
        {TransferSyntaxUid::JPEG_2000, "JPEG 2000", "ISO_15444_1"},
    }};

    const LossySyntax& FindLossySyntax(const std::string& uid)
    {
      for (const LossySyntax& syntax : LOSSY_SYNTAXES)
      {
        if (uid == syntax.uid)
        {
          return syntax;
        }
      }

      throw CodecError("not a lossy transfer syntax");
    }

    // Value 1 is ORIGINAL or DERIVED, value 2 whether the image was made of a patient: that stays
    std::string MakeImageType(std::string_view source)
    {
      const std::size_t end = source.find('\\');
      return "DERIVED" +
             (end == std::string_view::npos ? "\\SECONDARY" : std::string(source.substr(end)));
    }

    std::size_t CountValues(std::string_view values)
    {
      return values.empty()
                 ? 0
                 : static_cast<std::size_t>(std::count(values.begin(), values.end(), '\\') + 1);
    }

    // One more value, at the place of its compression step: earlier ones may be unknown
    std::string AppendValue(std::string_view values, std::size_t steps, const std::string& value)
    {
      std::string result(values);
      const std::size_t known = CountValues(values);
      result.append(steps - std::min(steps, std::max<std::size_t>(known, 1)), '\\');
      return steps == 0 ? value : result + "\\" + value;
    }

    std::string FormatRatio(std::size_t nativeSize, std::size_t compressedSize)
    {
      std::ostringstream text;
      text << std::setprecision(4)
           << static_cast<double>(nativeSize) /
                  static_cast<double>(std::max<std::size_t>(compressedSize, 1));
      return text.str();
    }

    std::string MakeDescription(std::string_view source, const LossySyntax& syntax,
                                unsigned int quality, const std::string& ratio)
    {
      const std::string step = std::string("Lossy compression with ") + syntax.name + ", quality " +
                               std::to_string(quality) + " of 100, compression ratio " + ratio;
      const std::string all = source.empty() ? step : std::string(source) + "; " + step;
      return all.size() <= MAXIMUM_DESCRIPTION ? all : std::string(source);
    }

    // An item of a code sequence: DICOM PS3.3 table 8.8-1
    std::string MakeCode(const char* value, const char* meaning)
    {
      std::string code;
      AppendElement(code, TAG_CODE_VALUE, "SH", value);
      AppendElement(code, TAG_CODING_SCHEME_DESIGNATOR, "SH", "DCM");
      AppendElement(code, TAG_CODE_MEANING, "LO", meaning);

      std::string item;
      AppendItem(item, code);
      return item;
    }

    // The purposes of reference are those of DICOM PS3.16 CID 7202
    std::string MakeSourceImage(const ImageDescription& source, bool wasLossy)
    {
      const std::string purpose =
          wasLossy ? MakeCode("121322", "Source image for image processing operation")
                   : MakeCode("121320", "Uncompressed predecessor");

      std::string reference;
      AppendElement(reference, TAG_REFERENCED_SOP_CLASS_UID, "UI", source.sopClassUid);
      AppendElement(reference, TAG_REFERENCED_SOP_INSTANCE_UID, "UI", source.sopInstanceUid);
      AppendElement(reference, TAG_PURPOSE_OF_REFERENCE_CODE_SEQUENCE, "SQ", purpose);

      std::string item;
      AppendItem(item, reference);
      return item;
    }

    // The items of a sequence that is there already; empty if there is none
    std::string GetItems(const DataSetEditor& editor, DicomTag tag)
    {
      constexpr std::size_t HEADER = 12;    // tag, VR, two zeros, length
      constexpr std::size_t DELIMITER = 8;  // behind the items, where the length is not defined
      const DataElement* const element = editor.Find(tag);

      if (element == nullptr || element->bytes.size() <= HEADER)
      {
        return "";
      }

      // UN, for instance, from software without a dictionary
      if (element->bytes.substr(4, 2) != "SQ")
      {
        throw CodecError("a sequence of source images has a VR other than SQ");
      }

      const bool hasDelimiter = element->bytes.substr(8, 4) == "\xff\xff\xff\xff";
      const std::size_t around = HEADER + (hasDelimiter ? DELIMITER : 0);
      const std::size_t size = element->bytes.size();
      return size < around ? "" : std::string(element->bytes.substr(HEADER, size - around));
    }

    using Number = unsigned __int128;

    // FNV-1a of 128 bits (G. Fowler, L. C. Noll, K.-P. Vo): draft-eastlake-fnv
    void AddToHash(Number& hash, std::string_view bytes) noexcept
    {
      for (const char byte : bytes)
      {
        // The prime is 2^88 + 315
        hash ^= static_cast<std::uint8_t>(byte);
        hash = (hash << 88) + hash * 315;
      }
    }
  }

  std::string DescribeLossyDerivation(const ReceivedFile& compressed, const ReceivedFile& source,
                                      const LossyDerivation& derivation)
  {
    const LossySyntax& syntax = FindLossySyntax(derivation.transferSyntax);
    const ImageDescription& image = source.image;

    if (image.sopInstanceUid.empty())
    {
      throw CodecError("the source has no SOP Instance UID");
    }

    // What the source says of where it comes from
    const auto find = [&source](DicomTag tag)
    {
      const DataElement* const element = source.dataSet.Find(tag);
      return element == nullptr ? std::string_view() : element->GetText();
    };

    const std::string_view ratios = find(TAG_LOSSY_IMAGE_COMPRESSION_RATIO);
    const std::string_view methods = find(TAG_LOSSY_IMAGE_COMPRESSION_METHOD);
    const std::size_t steps = std::max(CountValues(ratios), CountValues(methods));
    const TransferSyntax* const sourceSyntax = FindTransferSyntax(image.transferSyntax);
    const bool wasLossy = find(TAG_LOSSY_IMAGE_COMPRESSION) == "01" ||
                          (sourceSyntax != nullptr && sourceSyntax->isLossy);

    DataSetEditor editor(compressed);
    const DataElement* const pixels = editor.Find(TAG_PIXEL_DATA);

    if (pixels == nullptr)
    {
      throw CodecError("no Pixel Data");
    }

    const std::string ratio = FormatRatio(image.GetNativeSize().value_or(0), pixels->bytes.size());

    editor.Set(TAG_MEDIA_STORAGE_SOP_INSTANCE_UID, "UI", derivation.sopInstanceUid);
    editor.Set(TAG_SOP_INSTANCE_UID, "UI", derivation.sopInstanceUid);
    editor.Set(TAG_IMAGE_TYPE, "CS", MakeImageType(find(TAG_IMAGE_TYPE)));
    editor.Set(
        TAG_DERIVATION_DESCRIPTION, "ST",
        MakeDescription(find(TAG_DERIVATION_DESCRIPTION), syntax, derivation.lossyQuality, ratio));
    editor.Set(TAG_SOURCE_IMAGE_SEQUENCE, "SQ",
               MakeSourceImage(image, wasLossy) + GetItems(editor, TAG_SOURCE_IMAGE_SEQUENCE));

    // More than one are successive steps: DICOM PS3.3 section C.12.4.1. The code is of PS3.16 CID
    // 7203.
    editor.Set(TAG_DERIVATION_CODE_SEQUENCE, "SQ",
               GetItems(editor, TAG_DERIVATION_CODE_SEQUENCE) +
                   MakeCode("113040", "Lossy Compression"));
    editor.Set(TAG_LOSSY_IMAGE_COMPRESSION, "CS", "01");
    editor.Set(TAG_LOSSY_IMAGE_COMPRESSION_RATIO, "DS", AppendValue(ratios, steps, ratio));
    editor.Set(TAG_LOSSY_IMAGE_COMPRESSION_METHOD, "CS",
               AppendValue(methods, steps, syntax.method));

    // Those of the source
    editor.Remove(TAG_SMALLEST_IMAGE_PIXEL_VALUE);
    editor.Remove(TAG_LARGEST_IMAGE_PIXEL_VALUE);
    return editor.Write();
  }

  std::string MakeDerivedUid(const ImageDescription& source, const std::string& transferSyntax,
                             unsigned int lossyQuality)
  {
    const std::string request = "/" + transferSyntax + "/" + std::to_string(lossyQuality) + "/";

    Number uuid = Number(0x6c62272e07bb0142) << 64 | 0x62b821756295c58d;
    AddToHash(uuid, source.sopInstanceUid);
    AddToHash(uuid, request);
    AddToHash(uuid, source.pixelData);
    AddToHash(uuid, source.encapsulatedPixels);

    // Version 8, variant 10: RFC 9562 section 5.8
    uuid = (uuid & ~(Number(0xf000) << 64)) | Number(0x8000) << 64;
    uuid = (uuid & ~(Number(3) << 62)) | Number(2) << 62;
    std::string digits;

    for (; uuid > 0; uuid /= 10)
    {
      digits.insert(digits.begin(), static_cast<char>('0' + static_cast<int>(uuid % 10)));
    }

    return "2.25." + digits;
  }
}
