// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace OrthancPerf
{
  // DICOM PS3.7 annex E.1
  constexpr std::uint16_t C_STORE_REQUEST = 0x0001;
  constexpr std::uint16_t C_STORE_RESPONSE = 0x8001;
  constexpr std::uint16_t C_GET_REQUEST = 0x0010;
  constexpr std::uint16_t C_FIND_REQUEST = 0x0020;
  constexpr std::uint16_t C_MOVE_REQUEST = 0x0021;
  constexpr std::uint16_t C_CANCEL_REQUEST = 0x0fff;
  constexpr std::uint16_t IS_RESPONSE = 0x8000;  // the bit that tells it from its request


  // Whether the first bytes of a PDU begin a command set: those of a P-DATA-TF are written as one,
  // with the header of its first PDV
  bool IsCommand(const std::uint8_t* data, std::size_t size) noexcept;

  // Whether such a command set goes on in the next PDU
  bool IsCommandOpen(const std::uint8_t* data, std::size_t size) noexcept;


  // Finds elements of a DIMSE message's command set in its first bytes: a P-DATA-TF PDU
  // whose first fragment is a command set, in Implicit VR Little Endian (DICOM PS3.7 section
  // 6.3.1, PS3.8 sections 9.3.5 and annex E.2). Keeps no more than those bytes, allocates
  // nothing, never throws. A value; one thread at a time.
  class CommandFieldReader
  {
  public:
    // A new message begins
    void Reset() noexcept
    {
      size_ = 0;
    }

    // The next bytes of the message
    void Feed(const std::uint8_t* data, std::size_t size) noexcept;

    // The Command Field (0000,0100). Nothing: not there yet, not DIMSE, or beyond the bytes that
    // are kept
    std::optional<std::uint16_t> Get() const noexcept
    {
      return GetNumber(0x0100);
    }

    // The Message ID (0000,0110) of a request, and that which a response answers (0000,0120)
    std::optional<std::uint16_t> GetMessageId() const noexcept
    {
      return GetNumber(0x0110);
    }

    std::optional<std::uint16_t> GetAnsweredId() const noexcept
    {
      return GetNumber(0x0120);
    }

    // The Status (0000,0900) of a response
    std::optional<std::uint16_t> GetStatus() const noexcept
    {
      return GetNumber(0x0900);
    }

  private:
    // Headers of PDU and PDV (12 bytes), group length (12), Affected SOP Class UID (at most 72),
    // four numbers, the Command Field first (40)
    static constexpr std::size_t CAPACITY = 136;

    struct Value
    {
      const std::uint8_t* bytes;
      std::size_t size;
    };

    std::optional<Value> Find(std::uint16_t element) const noexcept;
    std::optional<std::uint16_t> GetNumber(std::uint16_t element) const noexcept;

    std::array<std::uint8_t, CAPACITY> bytes_ = {};
    std::size_t size_ = 0;
  };
}
