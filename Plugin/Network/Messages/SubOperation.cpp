// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/SubOperation.h"

#include "Network/Messages/AssociateRequest.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint32_t PDV_HEADER_SIZE = 6;
  }


  void SubOperation::OnWritten(const std::uint8_t* data, std::size_t size, TimePoint now) noexcept
  {
    while (size > 0)
    {
      if (left_ == 0)
      {
        OnHeaderByte(*data, now);
        data++;
        size--;
        size_++;
        continue;
      }

      const std::size_t taken = std::min<std::size_t>(left_, size);

      if (isCommand_)
      {
        command_.Feed(data, taken);
      }

      left_ -= static_cast<std::uint32_t>(taken);
      data += taken;
      size -= taken;

      if (header_[0] == static_cast<std::uint8_t>(PduType::Data))  // and no A-ABORT after it
      {
        size_ += taken;
        lastByte_ = now;
      }
    }
  }


  void SubOperation::OnHeaderByte(std::uint8_t byte, TimePoint now) noexcept
  {
    header_[have_++] = byte;

    // Only P-DATA has a further header; other PDUs may be shorter than that
    const bool isData = header_[0] == static_cast<std::uint8_t>(PduType::Data);

    if (have_ == PDU_HEADER_SIZE && (!isData || GetPduLength() < PDV_HEADER_SIZE))
    {
      left_ = GetPduLength();
      isCommand_ = false;
      have_ = 0;
    }
    else if (have_ == HEADER_SIZE)
    {
      left_ = GetPduLength() - PDV_HEADER_SIZE;
      isCommand_ = IsCommand(header_.data(), HEADER_SIZE);
      have_ = 0;

      if (isCommand_ && !isOpen_)
      {
        command_.Reset();
        command_.Feed(header_.data(), HEADER_SIZE);
        firstByte_ = now;
        size_ = HEADER_SIZE - 1;  // this last byte is counted by the caller
      }

      isOpen_ = IsCommandOpen(header_.data(), HEADER_SIZE);
    }
  }


  std::uint32_t SubOperation::GetPduLength() const noexcept
  {
    return boost::endian::load_big_u32(&header_[2]);
  }
}
