// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  // The length of a value that ends with a delimitation item: DICOM PS3.5 section 7.1.1
  constexpr std::uint32_t UNDEFINED_LENGTH = 0xffffffff;

  // A tag as one number: (0008,0018) is 0x00080018
  using DicomTag = std::uint32_t;

  // Those that more than one file of the code calls by name: DICOM PS3.6
  constexpr DicomTag TAG_FILE_META_LENGTH = 0x00020000;
  constexpr DicomTag TAG_MEDIA_STORAGE_SOP_INSTANCE_UID = 0x00020003;
  constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;
  constexpr DicomTag TAG_SOP_CLASS_UID = 0x00080016;
  constexpr DicomTag TAG_SOP_INSTANCE_UID = 0x00080018;
  constexpr DicomTag TAG_PHOTOMETRIC_INTERPRETATION = 0x00280004;
  constexpr DicomTag TAG_PLANAR_CONFIGURATION = 0x00280006;
  constexpr DicomTag TAG_LOSSY_IMAGE_COMPRESSION = 0x00282110;
  constexpr DicomTag TAG_EXTENDED_OFFSET_TABLE = 0x7fe00001;
  constexpr DicomTag TAG_EXTENDED_OFFSET_TABLE_LENGTHS = 0x7fe00002;
  constexpr DicomTag TAG_PIXEL_DATA = 0x7fe00010;
  constexpr DicomTag TAG_ITEM = 0xfffee000;
  constexpr DicomTag TAG_ITEM_DELIMITATION = 0xfffee00d;
  constexpr DicomTag TAG_SEQUENCE_DELIMITATION = 0xfffee0dd;

  // How data elements are encoded: DICOM PS3.5 sections 7.1 and 7.3
  struct DicomEncoding
  {
    bool isExplicit = true;
    bool isBigEndian = false;
  };

  // The little endian integer that begins there
  template <typename Integer>
  Integer ReadLittle(std::string_view bytes, std::size_t position = 0) noexcept
  {
    return boost::endian::endian_load<Integer, sizeof(Integer), boost::endian::order::little>(
        reinterpret_cast<const unsigned char*>(bytes.data() + position));
  }

  // What the value of a data element is made of, as far as reading past it needs
  enum class ValueKind : std::uint8_t
  {
    Unspecified,  // implicit VR: only a data dictionary would know
    Text,
    Uid,
    Binary,
    Unknown,  // UN, and VRs that do not exist yet: a sequence if the length is undefined
    Sequence,
    Illegal  // no name of a VR
  };

  // A value representation: DICOM PS3.5 section 6.2. Two capitals that it does not define are one
  // of the future. A value.
  struct ValueRepresentation
  {
    ValueKind kind = ValueKind::Unspecified;
    bool hasLongLength = false;  // 32-bit length after two reserved bytes: PS3.5 section 7.1.2
    bool isStandard = false;     // defined by the standard
  };

  // The VR that these two characters name
  ValueRepresentation GetValueRepresentation(char first, char second) noexcept;

  // A data element. A value; it points into the bytes that were read.
  struct DataElement
  {
    DicomTag tag = 0;
    ValueRepresentation representation;
    std::uint32_t valueOffset = 0;  // in "bytes"; 0: a sequence, or encapsulated Pixel Data
    std::string_view bytes;         // all of it: header, value, delimiter

    bool HasValue() const noexcept
    {
      return valueOffset != 0;
    }

    std::string_view GetValue() const noexcept
    {
      return HasValue() ? bytes.substr(valueOffset) : std::string_view();
    }

    // The value without the padding at its end: spaces and zeros
    std::string_view GetText() const noexcept;

    // The first number of a US value; zero if there is none
    std::uint16_t GetUnsignedShort(const DicomEncoding& encoding) const noexcept;
  };
}
