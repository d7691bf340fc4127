// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Network/Messages/AssociateRequest.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // Command Field: DICOM PS3.7 annex E.1
  constexpr std::uint16_t C_STORE_REQUEST = 0x0001;
  constexpr std::uint16_t C_STORE_RESPONSE = 0x8001;
  constexpr std::uint16_t C_GET_REQUEST = 0x0010;
  constexpr std::uint16_t C_FIND_REQUEST = 0x0020;
  constexpr std::uint16_t C_MOVE_REQUEST = 0x0021;
  constexpr std::uint16_t IS_RESPONSE = 0x8000;  // the bit that tells it from its request

  // The first bytes behind the header of a PDU: all there are of A-ASSOCIATE-RJ and A-ABORT (DICOM
  // PS3.8 sections 9.3.4 and 9.3.8)
  using PduBody = std::array<std::uint8_t, 4>;

  // Follows one direction of a DICOM connection from its first byte, in pieces of any size: its
  // PDUs (DICOM PS3.8 section 9.3) and its latest DIMSE message. It looks at headers and at the
  // first bytes of command sets only; what is not DICOM, such as TLS, stops it for good. Allocates
  // nothing, never throws. A value; one thread at a time.
  class DimseReader
  {
  public:
    // Calls "onPdu(PduType)" for each PDU, and "onCommand()" before a command set replaces the
    // latest message. "now": when these bytes came, or went.
    template <typename OnPdu, typename OnCommand>
    void Feed(const std::uint8_t* data, std::size_t size, TimePoint now, const OnPdu& onPdu,
              const OnCommand& onCommand) noexcept
    {
      while (!isLost_ && size > 0)
      {
        const bool isHeader = have_ < PDU_HEADER_SIZE;
        const bool isFragment = !isHeader && have_ < HEADER_SIZE;
        const std::size_t taken = isHeader || isFragment ? 1 : std::min<std::size_t>(left_, size);

        if (isHeader || isFragment)
        {
          header_[have_++] = *data;
        }
        else if (isCommand_)
        {
          Keep(data, taken);
        }

        if (isHeader && have_ == PDU_HEADER_SIZE && OnPduHeader())
        {
          onPdu(static_cast<PduType>(header_[0]));
        }
        else if (!isHeader)
        {
          left_ -= static_cast<std::uint32_t>(taken);

          if (isFragment && have_ == HEADER_SIZE && BeginsMessage())
          {
            onCommand();
            Forget();
            firstByte_ = now;
            size_ = HEADER_SIZE - 1;  // without this last byte
          }

          if (IsData())
          {
            size_ += taken;
            lastByte_ = now;
          }
        }

        if (have_ >= PDU_HEADER_SIZE && left_ == 0)
        {
          EndPdu();
        }

        data += taken;
        size -= taken;
      }
    }

    // Something else than DICOM went by, such as TLS
    bool IsLost() const noexcept
    {
      return isLost_;
    }

    // From now on there is no latest message
    void Forget() noexcept
    {
      commandSize_ = 0;
      size_ = 0;
      firstByte_ = TimePoint();
      hasDataSet_ = false;
    }

    // The elements of the latest message, each of them nothing if it is not there (yet): Command
    // Field (0000,0100); Message ID (0000,0110) of a request, and of the one that a response
    // answers (0000,0120); Status (0000,0900)
    std::optional<std::uint16_t> GetCommand() const noexcept
    {
      return Find(0x0100);
    }

    std::optional<std::uint16_t> GetMessageId() const noexcept
    {
      return Find(0x0110);
    }

    std::optional<std::uint16_t> GetAnsweredId() const noexcept
    {
      return Find(0x0120);
    }

    std::optional<std::uint16_t> GetStatus() const noexcept
    {
      return Find(0x0900);
    }

    // Whether the last fragment of its data set has gone by: that of a P-DATA-TF whose first
    // fragment it is (annex E.2), as nearly all senders write it
    bool HasDataSet() const noexcept
    {
      return hasDataSet_;
    }

    // TimePoint(): there is no latest message
    TimePoint GetFirstByte() const noexcept
    {
      return firstByte_;
    }

    TimePoint GetLastByte() const noexcept
    {
      return lastByte_;
    }

    // Its end has left the machine only then
    void SetLastByte(TimePoint departure) noexcept
    {
      lastByte_ = departure;
    }

    // Its bytes, with the headers of its PDUs
    std::uint64_t GetSize() const noexcept
    {
      return size_;
    }

    // Of the latest PDU
    PduBody GetBody() const noexcept
    {
      PduBody body = {};
      std::copy_n(header_.begin() + PDU_HEADER_SIZE, body.size(), body.begin());
      return body;
    }

  private:
    // With that of the first fragment: length, presentation context, message control header (DICOM
    // PS3.8 sections 9.3.5.1 and E.2)
    static constexpr std::size_t HEADER_SIZE = 12;

    // Group length (12), Affected SOP Class UID (at most 72), four numbers, the Command Field first
    static constexpr std::size_t KEPT = 124;

    bool IsData() const noexcept
    {
      return header_[0] == static_cast<std::uint8_t>(PduType::Data);
    }

    bool OnPduHeader() noexcept;
    bool BeginsMessage() noexcept;
    void EndPdu() noexcept;
    void Keep(const std::uint8_t* data, std::size_t size) noexcept;
    std::optional<std::uint16_t> Find(std::uint16_t element) const noexcept;

    std::array<std::uint8_t, HEADER_SIZE> header_ = {};
    std::size_t have_ = 0;    // bytes of it
    std::uint32_t left_ = 0;  // bytes of the PDU behind these
    bool isCommand_ = false;  // the PDU under way has a command set
    bool isOpen_ = false;     // which goes on in the next one
    bool hasDataSet_ = false;
    bool isLost_ = false;
    std::array<std::uint8_t, KEPT> command_ = {};
    std::size_t commandSize_ = 0;
    TimePoint firstByte_;
    TimePoint lastByte_;
    std::uint64_t size_ = 0;
  };
}
