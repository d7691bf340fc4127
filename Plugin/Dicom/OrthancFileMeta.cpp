// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/OrthancFileMeta.h"

#include "Dicom/DicomFileWalk.h"

#include <cstdint>

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    using boost::endian::load_little_u16;
    using boost::endian::load_little_u32;

    // DICOM PS3.10 table 7.1-1 has 17
    constexpr std::size_t MAXIMUM_ELEMENTS = 100;

    // The VRs of 64-bit integers are not among Orthanc's
    bool IsKnown(const ValueRepresentation& representation, std::uint8_t second)
    {
      return representation.isStandard &&
             (representation.kind != ValueKind::Opaque || second != 'V');
    }
  }


  bool IsFileMetaRefused(const void* data, std::size_t size) noexcept
  {
    const auto* const bytes = static_cast<const std::uint8_t*>(data);
    std::size_t position = FILE_PREFIX_LENGTH;
    std::size_t end = size;

    for (std::size_t i = 0; i <= MAXIMUM_ELEMENTS && position < end && size - position >= 6; i++)
    {
      const std::uint8_t* const element = bytes + position;
      const ValueRepresentation representation = GetValueRepresentation(element[4], element[5]);
      const std::size_t header = representation.hasLongLength ? 12 : 8;

      if (!IsKnown(representation, element[5]))
      {
        return true;
      }

      if (size - position < header)
      {
        break;
      }

      const std::size_t length = representation.hasLongLength ? load_little_u32(element + 8)
                                                              : load_little_u16(element + 6);

      if (length > size - position - header)
      {
        break;
      }

      position += header + length;

      if (i == 0)
      {
        const bool isLength = load_little_u32(element) == 0x00000002 && element[4] == 'U' &&
                              element[5] == 'L' && length == 4;
        end = isLength ? position + load_little_u32(element + header) : 0;

        if (end > size)
        {
          break;
        }
      }
    }

    return false;
  }
}
