// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/TransferSyntax.h"

#include <algorithm>
#include <iterator>

namespace OrthancPerf
{
  namespace
  {
    namespace Uid = TransferSyntaxUid;

    constexpr TransferSyntax Native(const char* uid, const char* name, DataSetCoding coding,
                                    bool isWritable = false)
    {
      return {uid, name, coding, CodestreamKind::None, false, false, false, isWritable};
    }


    // With frames that some library here decodes
    constexpr TransferSyntax Compressed(const char* uid, const char* name, CodestreamKind kind,
                                        bool isLossy, bool isWritable = true)
    {
      return {uid,     name,      DataSetCoding::ExplicitLittleEndian, kind, true, false,
              isLossy, isWritable};
    }


    constexpr TransferSyntax Other(const char* uid, const char* name, bool isVideo = false)
    {
      return {uid, name, DataSetCoding::ExplicitLittleEndian, CodestreamKind::None, true, isVideo};
    }


    constexpr TransferSyntax Video(const char* uid, const char* name)
    {
      return Other(uid, name, true);
    }


    constexpr bool LOSSY = true;
    constexpr bool LOSSLESS = false;
    constexpr bool READ_ONLY = false;


    // DICOM PS3.6 table A-1
    constexpr TransferSyntax SYNTAXES[] = {
        Native(Uid::IMPLICIT_LITTLE_ENDIAN, "LittleEndianImplicit",
               DataSetCoding::ImplicitLittleEndian, true),
        Native(Uid::EXPLICIT_LITTLE_ENDIAN, "LittleEndianExplicit",
               DataSetCoding::ExplicitLittleEndian, true),
        Other("1.2.840.10008.1.2.1.98", "EncapsulatedUncompressed"),
        Native(Uid::DEFLATED_LITTLE_ENDIAN, "DeflatedLittleEndianExplicit", DataSetCoding::Deflated,
               true),
        Native(Uid::EXPLICIT_BIG_ENDIAN, "BigEndianExplicit", DataSetCoding::ExplicitBigEndian),
        Compressed(Uid::JPEG_BASELINE, "JPEGProcess1", CodestreamKind::Jpeg, LOSSY),
        Compressed(Uid::JPEG_EXTENDED, "JPEGProcess2_4", CodestreamKind::Jpeg, LOSSY),
        Other("1.2.840.10008.1.2.4.52", "JPEGProcess3_5"),
        Compressed("1.2.840.10008.1.2.4.53", "JPEGProcess6_8", CodestreamKind::Jpeg, LOSSY,
                   READ_ONLY),
        Other("1.2.840.10008.1.2.4.54", "JPEGProcess7_9"),
        Compressed("1.2.840.10008.1.2.4.55", "JPEGProcess10_12", CodestreamKind::Jpeg, LOSSY,
                   READ_ONLY),
        Other("1.2.840.10008.1.2.4.56", "JPEGProcess11_13"),
        Compressed(Uid::JPEG_LOSSLESS, "JPEGProcess14", CodestreamKind::Jpeg, LOSSLESS),
        Other("1.2.840.10008.1.2.4.58", "JPEGProcess15"),
        Other("1.2.840.10008.1.2.4.59", "JPEGProcess16_18"),
        Other("1.2.840.10008.1.2.4.60", "JPEGProcess17_19"),
        Other("1.2.840.10008.1.2.4.61", "JPEGProcess20_22"),
        Other("1.2.840.10008.1.2.4.62", "JPEGProcess21_23"),
        Other("1.2.840.10008.1.2.4.63", "JPEGProcess24_26"),
        Other("1.2.840.10008.1.2.4.64", "JPEGProcess25_27"),
        Other("1.2.840.10008.1.2.4.65", "JPEGProcess28"),
        Other("1.2.840.10008.1.2.4.66", "JPEGProcess29"),
        Compressed(Uid::JPEG_LOSSLESS_SV1, "JPEGProcess14SV1", CodestreamKind::Jpeg, LOSSLESS),
        Compressed(Uid::JPEG_LS_LOSSLESS, "JPEGLSLossless", CodestreamKind::JpegLs, LOSSLESS),
        Compressed(Uid::JPEG_LS_NEAR_LOSSLESS, "JPEGLSLossy", CodestreamKind::JpegLs, LOSSY),
        Compressed(Uid::JPEG_2000_LOSSLESS, "JPEG2000LosslessOnly", CodestreamKind::Jpeg2000,
                   LOSSLESS),
        Compressed(Uid::JPEG_2000, "JPEG2000", CodestreamKind::Jpeg2000, LOSSY),
        Other("1.2.840.10008.1.2.4.92", "JPEG2000MulticomponentLosslessOnly"),
        Other("1.2.840.10008.1.2.4.93", "JPEG2000Multicomponent"),
        Native("1.2.840.10008.1.2.4.94", "JPIPReferenced", DataSetCoding::ExplicitLittleEndian),
        Native("1.2.840.10008.1.2.4.95", "JPIPReferencedDeflate", DataSetCoding::Deflated),
        Video("1.2.840.10008.1.2.4.100", "MPEG2MainProfileAtMainLevel"),
        Video("1.2.840.10008.1.2.4.100.1", "FragmentableMPEG2MainProfileAtMainLevel"),
        Video("1.2.840.10008.1.2.4.101", "MPEG2MainProfileAtHighLevel"),
        Video("1.2.840.10008.1.2.4.101.1", "FragmentableMPEG2MainProfileAtHighLevel"),
        Video("1.2.840.10008.1.2.4.102", "MPEG4HighProfileLevel4_1"),
        Video("1.2.840.10008.1.2.4.102.1", "FragmentableMPEG4HighProfileLevel4_1"),
        Video("1.2.840.10008.1.2.4.103", "MPEG4BDcompatibleHighProfileLevel4_1"),
        Video("1.2.840.10008.1.2.4.103.1", "FragmentableMPEG4BDcompatibleHighProfileLevel4_1"),
        Video("1.2.840.10008.1.2.4.104", "MPEG4HighProfileLevel4_2_For2DVideo"),
        Video("1.2.840.10008.1.2.4.104.1", "FragmentableMPEG4HighProfileLevel4_2_For2DVideo"),
        Video("1.2.840.10008.1.2.4.105", "MPEG4HighProfileLevel4_2_For3DVideo"),
        Video("1.2.840.10008.1.2.4.105.1", "FragmentableMPEG4HighProfileLevel4_2_For3DVideo"),
        Video("1.2.840.10008.1.2.4.106", "MPEG4StereoHighProfileLevel4_2"),
        Video("1.2.840.10008.1.2.4.106.1", "FragmentableMPEG4StereoHighProfileLevel4_2"),
        Video("1.2.840.10008.1.2.4.107", "HEVCMainProfileLevel5_1"),
        Video("1.2.840.10008.1.2.4.108", "HEVCMain10ProfileLevel5_1"),
        Other("1.2.840.10008.1.2.4.110", "JPEGXLLossless"),
        Other("1.2.840.10008.1.2.4.111", "JPEGXLJPEGRecompression"),
        Other("1.2.840.10008.1.2.4.112", "JPEGXL"),
        Other("1.2.840.10008.1.2.4.201", "HighThroughputJPEG2000LosslessOnly"),
        Other("1.2.840.10008.1.2.4.202", "HighThroughputJPEG2000withRPCLOptionsLosslessOnly"),
        Other("1.2.840.10008.1.2.4.203", "HighThroughputJPEG2000"),
        Compressed(Uid::RLE_LOSSLESS, "RLELossless", CodestreamKind::Rle, LOSSLESS),
    };
  }


  const TransferSyntax* FindTransferSyntax(std::string_view uid) noexcept
  {
    const auto* const found =
        std::find_if(std::begin(SYNTAXES), std::end(SYNTAXES),
                     [uid](const TransferSyntax& syntax) { return uid == syntax.uid; });
    return found == std::end(SYNTAXES) ? nullptr : found;
  }


  bool IsEncapsulated(std::string_view uid) noexcept
  {
    const TransferSyntax* const syntax = FindTransferSyntax(uid);
    return syntax != nullptr && syntax->isEncapsulated;
  }


  CodestreamKind GetCodestreamKind(std::string_view uid) noexcept
  {
    const TransferSyntax* const syntax = FindTransferSyntax(uid);
    return syntax == nullptr ? CodestreamKind::None : syntax->codestream;
  }


  const std::vector<TransferSyntax>& GetWritableSyntaxes()
  {
    static const std::vector<TransferSyntax> WRITABLE = []
    {
      std::vector<TransferSyntax> writable;
      std::copy_if(std::begin(SYNTAXES), std::end(SYNTAXES), std::back_inserter(writable),
                   [](const TransferSyntax& syntax) { return syntax.isWritable; });
      return writable;
    }();
    return WRITABLE;
  }


  const TransferSyntax* FindWritableSyntax(std::string_view uid) noexcept
  {
    const TransferSyntax* const syntax = FindTransferSyntax(uid);
    return syntax != nullptr && syntax->isWritable ? syntax : nullptr;
  }


  std::optional<std::string> LookupWritableSyntax(const std::string& uidOrName)
  {
    for (const TransferSyntax& syntax : GetWritableSyntaxes())
    {
      if (uidOrName == syntax.uid || uidOrName == syntax.name)
      {
        return syntax.uid;
      }
    }

    return std::nullopt;
  }


  bool IsLossy(std::string_view uid) noexcept
  {
    const TransferSyntax* const syntax = FindWritableSyntax(uid);
    return syntax != nullptr && syntax->isLossy;
  }


  std::string GetSyntaxName(const std::string& uid)
  {
    const TransferSyntax* const syntax = FindWritableSyntax(uid);
    return syntax == nullptr ? uid : syntax->name;
  }
}
