// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/TlsAssociateRequest.h"

#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::uint8_t HANDSHAKE = 22;
    constexpr std::uint8_t APPLICATION_DATA = 23;
    constexpr std::size_t HEADER_SIZE = 5;


    bool IsRecord(const std::uint8_t* data, std::size_t size, std::uint8_t type) noexcept
    {
      constexpr std::uint8_t MAJOR_VERSION = 3;
      return size >= HEADER_SIZE && data[0] == type && data[1] == MAJOR_VERSION;
    }


    // Whether these bytes are the begin of what a server says to a client, and encrypted behind its
    // first record or two: in TLS 1.3 only. OpenSSL writes 4 KiB at once.
    bool IsVersion13(const std::uint8_t* data, std::size_t size) noexcept
    {
      bool isFound = false;

      if (IsRecord(data, size, HANDSHAKE))
      {
        while (size > HEADER_SIZE && !isFound)
        {
          const std::size_t length = HEADER_SIZE + boost::endian::load_big_u16(data + 3);
          const std::size_t passed = length < size ? length : size;
          data += passed;
          size -= passed;
          isFound = IsRecord(data, size, APPLICATION_DATA);
        }
      }

      return isFound;
    }
  }


  void TlsAssociateRequest::OnRequestBytes(const std::uint8_t* data, std::size_t size) noexcept
  {
    if (state_ != State::Messages && IsRecord(data, size, APPLICATION_DATA))
    {
      state_ = State::Request;
      recordsOfRequest_++;
    }
  }


  void TlsAssociateRequest::OnResponseBytes(const std::uint8_t* data, std::size_t size) noexcept
  {
    if (state_ == State::Handshake)
    {
      isVersion13_ = isVersion13_ || IsVersion13(data, size);
    }
    else if (state_ == State::Request && IsRecord(data, size, APPLICATION_DATA))
    {
      recordsOfResponse_++;
    }
  }


  bool TlsAssociateRequest::Finish() noexcept
  {
    // Without a certificate, the end of the requestor's handshake is one record. With one it may be
    // more, but then there are two tickets, each in a call of its own; the answer is one call.
    const bool isHandshake = isVersion13_ && (recordsOfRequest_ == 1 || recordsOfResponse_ > 1);

    *this = {};
    state_ = isHandshake ? State::Handshake : State::Messages;
    return !isHandshake;
  }
}
