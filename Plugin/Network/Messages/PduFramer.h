// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Messages/AssociateRequest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  // Finds the PDUs (DICOM PS3.8 section 9.3) in one direction of a connection, looking at nothing
  // but their headers; what is not DICOM stops it for good. A value; one thread at a time.
  class PduFramer
  {
  public:
    // Calls "onPdu(PduType)" for each PDU whose header ends within these bytes.
    template <typename Callback>
    void Feed(const std::uint8_t* data, std::size_t size, const Callback& onPdu) noexcept
    {
      std::size_t position = 0;

      while (!isLost_ && position < size)
      {
        if (left_ != 0)
        {
          const std::size_t passed = std::min<std::size_t>(left_, size - position);
          left_ -= static_cast<std::uint32_t>(passed);
          position += passed;
          continue;
        }

        header_[have_++] = data[position++];

        if (have_ == PDU_HEADER_SIZE && OnHeader())
        {
          onPdu(static_cast<PduType>(header_[0]));
        }
      }
    }

    // Something else than DICOM went by, such as TLS
    bool IsLost() const noexcept
    {
      return isLost_;
    }

    // Whether the next byte begins a PDU
    bool IsBetweenPdus() const noexcept
    {
      return !isLost_ && have_ == 0 && left_ == 0;
    }

  private:
    bool OnHeader() noexcept
    {
      have_ = 0;
      isLost_ = header_[0] < static_cast<std::uint8_t>(PduType::AssociateRequest) ||
                header_[0] > static_cast<std::uint8_t>(PduType::Abort);
      left_ = (static_cast<std::uint32_t>(header_[2]) << 24U) |
              (static_cast<std::uint32_t>(header_[3]) << 16U) |
              (static_cast<std::uint32_t>(header_[4]) << 8U) | header_[5];
      return !isLost_;
    }

    std::array<std::uint8_t, PDU_HEADER_SIZE> header_ = {};
    std::size_t have_ = 0;
    std::uint32_t left_ = 0;
    bool isLost_ = false;
  };
}
