// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSet.h"
#include "Dicom/TransferSyntax.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace OrthancPerf
{
  // What a file holds in the way of pixels: DICOM PS3.3 section C.7.6.3
  enum class PixelDataKind
  {
    Unknown,  // the data set is deflated, or could not be read to its end
    None,
    Native,
    Encapsulated,  // DICOM PS3.5 section A.4
    Float          // Float or Double Float Pixel Data: never compressed
  };

  // The attributes that say what the pixels of a file are. A value; it points into the file.
  struct ImageDescription : DataSetOddities
  {
    std::string transferSyntax;  // UID; empty: the file does not name one
    bool isDeflated = false;     // nothing below is known
    PixelDataKind kind = PixelDataKind::Unknown;

    std::uint16_t rows = 0;
    std::uint16_t columns = 0;
    std::uint16_t samplesPerPixel = 0;
    std::uint16_t bitsAllocated = 0;
    std::uint16_t bitsStored = 0;
    std::uint16_t highBit = 0;
    std::uint16_t pixelRepresentation = 0;  // 1: signed
    std::uint16_t planarConfiguration = 0;  // 1: by plane
    std::uint32_t frames = 1;               // without Number of Frames, or without a value of it
    bool hasLegalFrames = true;             // false: Number of Frames is zero, or can't be read
    bool hasEmbeddedOverlays = false;       // in the unused bits of pixels, as before DICOM 2004

    // The smallest and the largest sample that is no part of the image proper, but fills it up or
    // is its background (PS3.3 section C.7.5.1.1.2); of images with one sample
    std::optional<std::pair<std::int32_t, std::int32_t>> padding;

    std::string_view photometricInterpretation;
    std::string_view sopClassUid;
    std::string_view sopInstanceUid;

    std::string_view pixelData;           // the bytes of native pixels as they are in the file
    std::string_view encapsulatedPixels;  // the whole element, if it is in Explicit VR

    bool hasExtendedOffsets = false;  // a table of 64 bits, or its lengths: PS3.3 C.7.6.3.1.8

    // Bytes of all frames when they are not compressed; nothing if the attributes make no sense,
    // or if that would be more than a std::size_t can say
    std::optional<std::size_t> GetNativeSize() const noexcept;

    // Whether there are bits stored, and they and High Bit lie within the bits allocated
    bool HasLegalBits() const noexcept;
  };

  // Of a data set that was read to its end; its transfer syntax is not known here
  ImageDescription DescribeImage(const DataSet& dataSet, const DicomEncoding& encoding);
}
