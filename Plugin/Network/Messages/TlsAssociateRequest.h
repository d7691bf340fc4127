// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  // Finds the A-ASSOCIATE-RQ on a connection under TLS, by the headers of records alone (RFC 8446
  // section 5.1, RFC 5246 section 6.2.1), which TLS libraries read and write with the first bytes
  // of a call: it is the first message with application data. In TLS 1.3, the end of the
  // requestor's handshake looks like such a message. It is a part of the A-ASSOCIATE-RQ, unless
  // something is written before that is read: session tickets (RFC 8446 section 4.6.1), which
  // OpenSSL's server writes by itself. A value; one thread at a time.
  class TlsAssociateRequest
  {
  public:
    // A call's bytes of the requestor
    void OnRequestBytes(const std::uint8_t* data, std::size_t size) noexcept;

    // A call's bytes that Orthanc answers with
    void OnResponseBytes(const std::uint8_t* data, std::size_t size) noexcept;

    // The message under way has application data, or one before it
    bool IsHandshakeOver() const noexcept
    {
      return state_ != State::Handshake;
    }

    // The message under way is it
    bool IsUnderWay() const noexcept
    {
      return state_ == State::Request;
    }

    // What follows on it begins, or nothing does. False: it was the handshake; the A-ASSOCIATE-RQ
    // is still to come.
    bool Finish() noexcept;

  private:
    enum class State : std::uint8_t
    {
      Handshake,
      Request,
      Messages
    };

    State state_ = State::Handshake;
    bool isVersion13_ = false;
    std::uint32_t recordsOfRequest_ = 0;
    std::uint32_t recordsOfResponse_ = 0;
  };
}
