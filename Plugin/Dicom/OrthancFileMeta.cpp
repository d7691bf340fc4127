// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/OrthancFileMeta.h"

#include "Dicom/DicomFileWalk.h"

#include <cstdint>

namespace OrthancPerf
{
  namespace
  {
    class OrthancFileMetaReader
    {
    public:
      OrthancFileMetaReader(const std::uint8_t* bytes, std::size_t size) noexcept :
        bytes_(bytes),
        size_(size)
      {
      }

      bool IsRefused() noexcept
      {
        if (!ReadElement() || !isLength_)
        {
          return isRefused_;
        }

        const std::size_t end = position_ + Read32(position_ - sizeof(std::uint32_t));

        for (std::size_t i = 0; i < MAXIMUM_ELEMENTS && position_ < end; i++)
        {
          if (end > size_ || !ReadElement())
          {
            break;
          }
        }

        return isRefused_;
      }

    private:
      // DICOM PS3.10 table 7.1-1 has 17
      static constexpr std::size_t MAXIMUM_ELEMENTS = 100;

      bool ReadElement() noexcept
      {
        if (size_ - position_ < 6)
        {
          return false;
        }

        const std::uint8_t* const vr = bytes_ + position_ + 4;
        const ValueRepresentation representation = GetValueRepresentation(vr[0], vr[1]);
        isRefused_ = !IsKnown(representation, vr[1]);

        const std::size_t header = representation.hasLongLength ? 12 : 8;

        if (isRefused_ || size_ - position_ < header)
        {
          return false;
        }

        const std::size_t length =
            representation.hasLongLength ? Read32(position_ + 8) : Read32(position_ + 4) >> 16;
        isLength_ = Read32(position_) == 0x00000002 && vr[0] == 'U' && vr[1] == 'L' && length == 4;

        if (length > size_ - position_ - header)
        {
          return false;
        }

        position_ += header + length;
        return true;
      }

      // The VRs of 64-bit integers are not among Orthanc's
      static bool IsKnown(const ValueRepresentation& representation, std::uint8_t second) noexcept
      {
        return representation.isStandard &&
               (representation.kind != ValueKind::Opaque || second != 'V');
      }

      std::uint32_t Read32(std::size_t position) const noexcept
      {
        const std::uint8_t* const p = bytes_ + position;
        return static_cast<std::uint32_t>(p[0]) | static_cast<std::uint32_t>(p[1]) << 8 |
               static_cast<std::uint32_t>(p[2]) << 16 | static_cast<std::uint32_t>(p[3]) << 24;
      }

      const std::uint8_t* const bytes_;
      const std::size_t size_;
      std::size_t position_ = FILE_PREFIX_LENGTH;
      bool isLength_ = false;
      bool isRefused_ = false;
    };
  }


  bool IsFileMetaRefused(const void* data, std::size_t size) noexcept
  {
    return OrthancFileMetaReader(static_cast<const std::uint8_t*>(data), size).IsRefused();
  }
}
