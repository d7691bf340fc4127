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

    // With frames, which some library here decodes unless the kind is None
    constexpr TransferSyntax Compressed(const char* uid, const char* name, CodestreamKind kind,
                                        bool isLossy, bool isWritable = true)
    {
      return {uid,     name,      DataSetCoding::ExplicitLittleEndian, kind, true, false,
              isLossy, isWritable};
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
        Native(Uid::DEFLATED_LITTLE_ENDIAN, "DeflatedLittleEndianExplicit", DataSetCoding::Deflated,
               true),
        Native(Uid::EXPLICIT_BIG_ENDIAN, "BigEndianExplicit", DataSetCoding::ExplicitBigEndian),
        Compressed(Uid::JPEG_BASELINE, "JPEGProcess1", CodestreamKind::Jpeg, LOSSY),
        Compressed(Uid::JPEG_EXTENDED, "JPEGProcess2_4", CodestreamKind::Jpeg, LOSSY),
        Compressed("1.2.840.10008.1.2.4.53", "JPEGProcess6_8", CodestreamKind::Jpeg, LOSSY,
                   READ_ONLY),
        Compressed("1.2.840.10008.1.2.4.55", "JPEGProcess10_12", CodestreamKind::Jpeg, LOSSY,
                   READ_ONLY),
        Compressed(Uid::JPEG_LOSSLESS, "JPEGProcess14", CodestreamKind::Jpeg, LOSSLESS),
        Compressed(Uid::JPEG_LOSSLESS_SV1, "JPEGProcess14SV1", CodestreamKind::Jpeg, LOSSLESS),
        Compressed(Uid::JPEG_LS_LOSSLESS, "JPEGLSLossless", CodestreamKind::JpegLs, LOSSLESS),
        Compressed(Uid::JPEG_LS_NEAR_LOSSLESS, "JPEGLSLossy", CodestreamKind::JpegLs, LOSSY),
        Compressed(Uid::JPEG_2000_LOSSLESS, "JPEG2000LosslessOnly", CodestreamKind::Jpeg2000,
                   LOSSLESS),
        Compressed(Uid::JPEG_2000, "JPEG2000", CodestreamKind::Jpeg2000, LOSSY),
        Native("1.2.840.10008.1.2.4.94", "JPIPReferenced", DataSetCoding::ExplicitLittleEndian),
        Native("1.2.840.10008.1.2.4.95", "JPIPReferencedDeflate", DataSetCoding::Deflated),
        Compressed(Uid::RLE_LOSSLESS, "RLELossless", CodestreamKind::Rle, LOSSLESS),
    };

    // Encapsulated ones whose frames no library here decodes, by what follows PREFIX: other kinds
    // of JPEG, multi-component JPEG 2000, JPEG XL, HTJ2K. Videos are "4.100" to "4.108.1".
    constexpr std::string_view PREFIX = "1.2.840.10008.1.2.";
    constexpr std::string_view VIDEO_PREFIX = "1.2.840.10008.1.2.4.10";
    constexpr std::string_view UNDECODED[] = {
        "1.98", "4.52", "4.54", "4.56", "4.58",  "4.59",  "4.60",  "4.61",  "4.62",  "4.63", "4.64",
        "4.65", "4.66", "4.92", "4.93", "4.110", "4.111", "4.112", "4.201", "4.202", "4.203"};

    constexpr TransferSyntax OTHER = Compressed("", "", CodestreamKind::None, LOSSLESS, READ_ONLY);
    constexpr TransferSyntax VIDEO = {
        "", "", DataSetCoding::ExplicitLittleEndian, CodestreamKind::None, true, true};
  }

  const TransferSyntax* FindTransferSyntax(std::string_view uid) noexcept
  {
    const auto* const found =
        std::find_if(std::begin(SYNTAXES), std::end(SYNTAXES),
                     [uid](const TransferSyntax& syntax) { return uid == syntax.uid; });

    if (found != std::end(SYNTAXES))
    {
      return found;
    }

    const bool isOther = uid.substr(0, PREFIX.size()) == PREFIX &&
                         std::find(std::begin(UNDECODED), std::end(UNDECODED),
                                   uid.substr(PREFIX.size())) != std::end(UNDECODED);
    const bool isVideo = uid.size() > VIDEO_PREFIX.size() && uid[VIDEO_PREFIX.size()] <= '8' &&
                         uid.substr(0, VIDEO_PREFIX.size()) == VIDEO_PREFIX;
    return isVideo ? &VIDEO : isOther ? &OTHER : nullptr;
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
