// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // The types of PDU (DICOM PS3.8 sections 9.3.2 to 9.3.8)
  enum class PduType : std::uint8_t
  {
    AssociateRequest = 0x01,
    AssociateAccept = 0x02,
    AssociateReject = 0x03,
    Data = 0x04,
    ReleaseRequest = 0x05,
    ReleaseResponse = 0x06,
    Abort = 0x07
  };

  // Type, a reserved byte, and the length of what follows
  constexpr std::size_t PDU_HEADER_SIZE = 6;

  // A text of bounded length that allocates nothing: strangers choose it, and hooks read it.
  template <std::size_t Maximum>
  class BoundedText
  {
  public:
    void Assign(std::string_view text) noexcept
    {
      size_ = static_cast<std::uint8_t>(std::min(text.size(), Maximum));
      std::copy_n(text.begin(), size_, characters_.begin());
    }

    // As sent: not trimmed, not made printable (MakePrintable)
    std::string_view View() const noexcept
    {
      return {characters_.data(), size_};
    }

  private:
    static_assert(Maximum < 256);

    std::array<char, Maximum> characters_ = {};
    std::uint8_t size_ = 0;
  };

  // What an A-ASSOCIATE-RQ says (DICOM PS3.8 section 9.3.2; the user information of annex D and
  // PS3.7 annex D.3.3), as far as it is of use here. A value.
  struct AssociateRequest
  {
    BoundedText<16> calledTitle;  // application entities, as sent
    BoundedText<16> callingTitle;
    std::uint32_t maximumLength = 0;  // of a P-DATA PDU, bytes; 0: no limit, or not told
    BoundedText<16> implementationVersionName;
  };

  // Reads an A-ASSOCIATE-RQ from a stream as its bytes arrive, in pieces of any size. Keeps no
  // bytes but those of the field at hand, allocates nothing, never throws. A value; one thread
  // at a time.
  class AssociateRequestParser
  {
  public:
    // The longest PDU accepted: 128 presentation contexts (their identifiers are odd bytes) with
    // some hundred transfer syntaxes each stay far below
    static constexpr std::uint32_t MAXIMUM_LENGTH = 1U << 20U;

    enum class Status : std::uint8_t
    {
      NeedMore,
      Complete,
      Failed
    };

    // Reads at most up to the end of the PDU
    Status Feed(const std::uint8_t* data, std::size_t size) noexcept;

    Status GetStatus() const noexcept
    {
      return status_;
    }

    // Valid once Complete; before, what has been read so far
    const AssociateRequest& GetRequest() const noexcept
    {
      return request_;
    }

  private:
    enum class Step : std::uint8_t
    {
      PduHeader,
      Fixed,  // protocol version and application entities
      ItemHeader,
      Item
    };

    static constexpr std::size_t FIXED_SIZE = 68;  // PS3.8 table 9-11, bytes 7 to 74
    static constexpr std::size_t ITEM_HEADER_SIZE = 4;

    void Expect(Step step, std::size_t size) noexcept;
    void ExpectItem() noexcept;
    void OnField() noexcept;
    void OnItemHeader() noexcept;
    void OnItem() noexcept;

    std::array<std::uint8_t, FIXED_SIZE> field_ = {};  // the begin of a longer one
    std::size_t have_ = 0;                             // bytes of the field that are there
    std::size_t need_ = PDU_HEADER_SIZE;               // bytes of the field in all
    std::uint32_t left_ = 0;                           // bytes of the PDU after this field
    std::uint8_t item_ = 0;                            // its type
    Step step_ = Step::PduHeader;
    Status status_ = Status::NeedMore;
    AssociateRequest request_;
  };
}
