// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/CommandField.h"

#include "Network/Messages/AssociateRequest.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t PDV_HEADER_SIZE = 6;  // length, presentation context, control header
    constexpr std::size_t CONTROL_HEADER = PDU_HEADER_SIZE + 5;
    constexpr std::uint8_t IS_COMMAND = 0x01;  // message control header: PS3.8 annex E.2
    constexpr std::uint8_t IS_LAST = 0x02;     // the same
    constexpr std::size_t ELEMENT_HEADER_SIZE = 8;


    using boost::endian::load_little_u16;
    using boost::endian::load_little_u32;
  }


  bool IsCommand(const std::uint8_t* data, std::size_t size) noexcept
  {
    return size > CONTROL_HEADER && data[0] == static_cast<std::uint8_t>(PduType::Data) &&
           (data[CONTROL_HEADER] & IS_COMMAND) != 0;
  }


  bool IsCommandOpen(const std::uint8_t* data, std::size_t size) noexcept
  {
    return IsCommand(data, size) && (data[CONTROL_HEADER] & IS_LAST) == 0;
  }


  void CommandFieldReader::Feed(const std::uint8_t* data, std::size_t size) noexcept
  {
    const std::size_t taken = std::min(size, CAPACITY - size_);
    std::copy_n(data, taken, bytes_.begin() + static_cast<std::ptrdiff_t>(size_));
    size_ += taken;
  }


  std::optional<std::uint16_t> CommandFieldReader::GetNumber(std::uint16_t element) const noexcept
  {
    const std::optional<Value> value = Find(element);
    return value && value->size == 2 ? std::optional<std::uint16_t>(load_little_u16(value->bytes))
                                     : std::nullopt;
  }


  std::optional<CommandFieldReader::Value>
  CommandFieldReader::Find(std::uint16_t element) const noexcept
  {
    std::size_t position = PDU_HEADER_SIZE + PDV_HEADER_SIZE;

    if (!IsCommand(bytes_.data(), size_))
    {
      return std::nullopt;
    }

    while (position + ELEMENT_HEADER_SIZE <= size_)
    {
      const std::uint8_t* const header = bytes_.data() + position;
      const std::uint32_t length = load_little_u32(header + 4);

      if (load_little_u16(header) != 0 || length > size_ - position - ELEMENT_HEADER_SIZE)
      {
        return std::nullopt;  // not of the command group, or not there
      }

      if (load_little_u16(header + 2) == element)
      {
        return Value{header + ELEMENT_HEADER_SIZE, length};
      }

      position += ELEMENT_HEADER_SIZE + length;
    }

    return std::nullopt;
  }
}
