// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/DimseReader.h"

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    // Bits of the message control header: PS3.8 annex E.2
    constexpr std::uint8_t IS_COMMAND = 0x01;
    constexpr std::uint8_t IS_LAST = 0x02;

    using boost::endian::load_big_u32;
    using boost::endian::load_little_u16;
    using boost::endian::load_little_u32;
  }

  bool DimseReader::OnPduHeader() noexcept
  {
    left_ = load_big_u32(&header_[2]);
    isCommand_ = false;
    isLost_ = header_[0] < static_cast<std::uint8_t>(PduType::AssociateRequest) ||
              header_[0] > static_cast<std::uint8_t>(PduType::Abort);
    size_ += IsData() ? PDU_HEADER_SIZE : 0;
    return !isLost_;
  }

  // The header of a fragment is there
  bool DimseReader::BeginsMessage() noexcept
  {
    const std::uint8_t control = header_.back();
    isCommand_ = IsData() && (control & IS_COMMAND) != 0;
    const bool isNew = isCommand_ && !isOpen_;
    isOpen_ = isCommand_ && (control & IS_LAST) == 0;
    return isNew;
  }

  void DimseReader::EndPdu() noexcept
  {
    hasDataSet_ = hasDataSet_ || (have_ == HEADER_SIZE && IsData() && header_.back() == IS_LAST);
    have_ = 0;
  }

  void DimseReader::Keep(const std::uint8_t* data, std::size_t size) noexcept
  {
    const std::size_t taken = std::min(size, KEPT - commandSize_);
    std::copy_n(data, taken, command_.begin() + static_cast<std::ptrdiff_t>(commandSize_));
    commandSize_ += taken;
  }

  // A number of the command set, which is Implicit VR Little Endian (DICOM PS3.7 section 6.3.1)
  std::optional<std::uint16_t> DimseReader::Find(std::uint16_t element) const noexcept
  {
    constexpr std::size_t ELEMENT_HEADER_SIZE = 8;
    std::size_t position = 0;

    while (position + ELEMENT_HEADER_SIZE <= commandSize_)
    {
      const std::uint8_t* const header = command_.data() + position;
      const std::uint32_t length = load_little_u32(header + 4);

      if (load_little_u16(header) != 0 || length > commandSize_ - position - ELEMENT_HEADER_SIZE)
      {
        return std::nullopt;  // not of the command group, or not there
      }

      if (load_little_u16(header + 2) == element)
      {
        return length == 2 ? std::make_optional(load_little_u16(header + ELEMENT_HEADER_SIZE))
                           : std::nullopt;
      }

      position += ELEMENT_HEADER_SIZE + length;
    }

    return std::nullopt;
  }
}
