// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Ingest/Clock.h"
#include "Network/Messages/CommandField.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // Finds the latest DIMSE message in what Orthanc writes on a connection that it has accepted:
  // a response, or, during a C-GET, a C-STORE request (DICOM PS3.4 section C.4.3), which may follow
  // on a C-GET response without a word of the peer's between them. Follows the PDUs from the first
  // byte of the connection; under TLS it finds nothing. A value; one thread at a time.
  class SubOperation
  {
  public:
    // The next bytes that were written
    void OnWritten(const std::uint8_t* data, std::size_t size, TimePoint now) noexcept;

    // Whether the latest message is a C-STORE request
    bool IsInstance() const noexcept
    {
      return command_.Get() == C_STORE_REQUEST;
    }

    // Of the latest message, if it responds to such a request, once so much of it was written
    std::optional<std::uint16_t> GetStatus(std::uint16_t request) const noexcept
    {
      return command_.Get() == (request | IS_RESPONSE) ? command_.GetStatus() : std::nullopt;
    }

    std::optional<std::uint16_t> GetMessageId() const noexcept
    {
      return command_.GetMessageId();
    }

    // The peer begins to answer; the end of the message has left then
    void OnAnswer(TimePoint departure) noexcept
    {
      lastByte_ = departure;
    }

    // Its end is told: from now on there is none
    void Finish() noexcept
    {
      command_.Reset();
    }

    // Of the latest message
    TimePoint GetFirstByte() const noexcept
    {
      return firstByte_;
    }

    TimePoint GetLastByte() const noexcept
    {
      return lastByte_;
    }

    // Bytes of the latest message
    std::uint64_t GetSize() const noexcept
    {
      return size_;
    }

  private:
    // A PDU header and that of its first PDV (DICOM PS3.8 sections 9.3.1 and 9.3.5.1)
    static constexpr std::size_t HEADER_SIZE = 12;

    void OnHeaderByte(std::uint8_t byte, TimePoint now) noexcept;
    std::uint32_t GetPduLength() const noexcept;

    std::array<std::uint8_t, HEADER_SIZE> header_ = {};
    std::size_t have_ = 0;    // bytes of the header
    std::uint32_t left_ = 0;  // bytes of the PDU after it
    bool isCommand_ = false;  // the PDU under way has a command set
    bool isOpen_ = false;     // which goes on in the next one
    CommandFieldReader command_;
    TimePoint firstByte_;
    TimePoint lastByte_;
    std::uint64_t size_ = 0;
  };
}
