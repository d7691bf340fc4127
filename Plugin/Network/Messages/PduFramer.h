// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/Messages/AssociateRequest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  // The first bytes behind the header of a PDU: all there are of A-ASSOCIATE-RJ and A-ABORT (DICOM
  // PS3.8 sections 9.3.4 and 9.3.8)
  using PduBody = std::array<std::uint8_t, 4>;

  // Finds the PDUs (DICOM PS3.8 section 9.3) in one direction of a connection, looking at nothing
  // but their headers and that of their first fragment; what is not DICOM stops it for good. A
  // value; one thread at a time.
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
          position += Pass(data + position, size - position);
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

    // Whether the last fragment of a data set has gone by, since this was last forgotten: that of a
    // P-DATA-TF whose first fragment it is (annex E.2), as nearly all senders write it
    bool HasDataSet() const noexcept
    {
      return hasDataSet_;
    }

    // Of the latest PDU
    const PduBody& GetBody() const noexcept
    {
      return body_;
    }

    void ForgetDataSet() noexcept
    {
      hasDataSet_ = false;
    }

  private:
    // Of the PDU under way; how many bytes that are
    std::size_t Pass(const std::uint8_t* data, std::size_t size) noexcept
    {
      constexpr std::uint32_t CONTROL_HEADER = 5;  // behind length and presentation context
      constexpr std::uint8_t IS_LAST_OF_DATA_SET = 0x02;
      const std::uint32_t offset = length_ - left_;
      const std::size_t passed = std::min<std::size_t>(left_, size);

      if (offset <= CONTROL_HEADER && CONTROL_HEADER - offset < passed)
      {
        control_ = data[CONTROL_HEADER - offset];
      }

      for (std::size_t i = 0; i < passed && offset + i < body_.size(); i++)
      {
        body_[offset + i] = data[i];
      }

      left_ -= static_cast<std::uint32_t>(passed);
      hasDataSet_ = hasDataSet_ || (left_ == 0 && control_ == IS_LAST_OF_DATA_SET &&
                                    header_[0] == static_cast<std::uint8_t>(PduType::Data));
      return passed;
    }

    bool OnHeader() noexcept
    {
      have_ = 0;
      control_ = 0;
      isLost_ = header_[0] < static_cast<std::uint8_t>(PduType::AssociateRequest) ||
                header_[0] > static_cast<std::uint8_t>(PduType::Abort);
      left_ = (static_cast<std::uint32_t>(header_[2]) << 24U) |
              (static_cast<std::uint32_t>(header_[3]) << 16U) |
              (static_cast<std::uint32_t>(header_[4]) << 8U) | header_[5];
      length_ = left_;
      return !isLost_;
    }

    std::array<std::uint8_t, PDU_HEADER_SIZE> header_ = {};
    std::size_t have_ = 0;
    std::uint32_t length_ = 0;
    std::uint32_t left_ = 0;
    std::uint8_t control_ = 0;
    PduBody body_ = {};
    bool hasDataSet_ = false;
    bool isLost_ = false;
  };
}
