// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // How a data set is encoded: DICOM PS3.5 sections 7.1, 7.3 and A
  enum class DataSetCoding
  {
    ImplicitLittleEndian,
    ExplicitLittleEndian,
    ExplicitBigEndian,
    Deflated  // explicit, little endian
  };

  // How the compressed frames of a transfer syntax are made
  enum class CodestreamKind
  {
    None,  // not compressed, or in a way that no library here decodes
    Jpeg,
    JpegLs,
    Jpeg2000,
    Rle
  };

  // A transfer syntax, and all that this project needs to know of it. A value.
  struct TransferSyntax
  {
    const char* uid;   // DICOM PS3.6 table A-1; empty: one of those that no library here decodes
    const char* name;  // as Orthanc calls it: DicomTransferSyntax_... in its Enumerations.h
    DataSetCoding coding;
    CodestreamKind codestream;
    bool isEncapsulated;      // Pixel Data is made of fragments: DICOM PS3.5 section A.4
    bool isVideo = false;     // MPEG-2, MPEG-4, HEVC
    bool isLossy = false;     // what is written in it is a new instance: PS3.3 C.7.6.1.1.5
    bool isWritable = false;  // instances can be transcoded to it: retired ones and videos can't
  };

  // The UIDs that the code needs to call by name
  namespace TransferSyntaxUid
  {
    constexpr const char* IMPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2";
    constexpr const char* EXPLICIT_LITTLE_ENDIAN = "1.2.840.10008.1.2.1";
    constexpr const char* DEFLATED_LITTLE_ENDIAN = "1.2.840.10008.1.2.1.99";
    constexpr const char* EXPLICIT_BIG_ENDIAN = "1.2.840.10008.1.2.2";
    constexpr const char* JPEG_BASELINE = "1.2.840.10008.1.2.4.50";
    constexpr const char* JPEG_EXTENDED = "1.2.840.10008.1.2.4.51";
    constexpr const char* JPEG_LOSSLESS = "1.2.840.10008.1.2.4.57";
    constexpr const char* JPEG_LOSSLESS_SV1 = "1.2.840.10008.1.2.4.70";
    constexpr const char* JPEG_LS_LOSSLESS = "1.2.840.10008.1.2.4.80";
    constexpr const char* JPEG_LS_NEAR_LOSSLESS = "1.2.840.10008.1.2.4.81";
    constexpr const char* JPEG_2000_LOSSLESS = "1.2.840.10008.1.2.4.90";
    constexpr const char* JPEG_2000 = "1.2.840.10008.1.2.4.91";
    constexpr const char* RLE_LOSSLESS = "1.2.840.10008.1.2.5";
  }

  // The one with this UID; nullptr if it is none of the standard's, retired ones included, as they
  // are in the archives. Allocates nothing; any thread may call these.
  const TransferSyntax* FindTransferSyntax(std::string_view uid) noexcept;

  // Not, and none, if there is no such syntax
  bool IsEncapsulated(std::string_view uid) noexcept;
  CodestreamKind GetCodestreamKind(std::string_view uid) noexcept;

  // Those that instances can be transcoded to, in the order of their UIDs
  const std::vector<TransferSyntax>& GetWritableSyntaxes();

  // The one of them with this UID; nullptr if it is none
  const TransferSyntax* FindWritableSyntax(std::string_view uid) noexcept;

  // The UID of the one that has this UID or name; nothing if it is none
  std::optional<std::string> LookupWritableSyntax(const std::string& uidOrName);

  // Whether it is one of them, and lossy
  bool IsLossy(std::string_view uid) noexcept;

  // Its name; the UID itself if it is none of them
  std::string GetSyntaxName(const std::string& uid);
}
