// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/AssociateRequest.h"

#include <algorithm>
#include <boost/endian/conversion.hpp>

namespace OrthancPerf
{
  namespace
  {
    // Types of items (DICOM PS3.8 section 9.3.2, PS3.7 annex D.3.3)
    constexpr std::uint8_t ITEM_USER_INFORMATION = 0x50;
    constexpr std::uint8_t ITEM_MAXIMUM_LENGTH = 0x51;
    constexpr std::uint8_t ITEM_IMPLEMENTATION_VERSION_NAME = 0x55;

    // All integers of a PDU are big endian (PS3.8 section 9.3.1).
    using boost::endian::load_big_u16;
    using boost::endian::load_big_u32;

    std::string_view ToText(const std::uint8_t* data, std::size_t size)
    {
      return {reinterpret_cast<const char*>(data), size};
    }
  }

  AssociateRequestParser::Status AssociateRequestParser::Feed(const std::uint8_t* data,
                                                              std::size_t size) noexcept
  {
    std::size_t position = 0;

    while (status_ == Status::NeedMore && position < size)
    {
      const std::size_t available = size - position;

      if (skip_ != 0)
      {
        const std::size_t skipped = std::min<std::size_t>(skip_, available);
        skip_ -= static_cast<std::uint32_t>(skipped);
        position += skipped;

        if (skip_ == 0)
        {
          ExpectItem();
        }

        continue;
      }

      const std::size_t copied = std::min(need_ - have_, available);
      std::copy_n(data + position, copied, field_.begin() + have_);
      have_ += copied;
      position += copied;

      if (have_ == need_)
      {
        OnField();
      }
    }

    return status_;
  }

  void AssociateRequestParser::Fail() noexcept
  {
    status_ = Status::Failed;
  }

  void AssociateRequestParser::Expect(Step step, std::size_t size) noexcept
  {
    step_ = step;
    have_ = 0;
    need_ = size;
  }

  // The next one, or the end of the PDU
  void AssociateRequestParser::ExpectItem() noexcept
  {
    if (left_ == 0)
    {
      status_ = Status::Complete;
      return;
    }

    if (left_ < ITEM_HEADER_SIZE)
    {
      return Fail();
    }

    left_ -= ITEM_HEADER_SIZE;
    Expect(Step::ItemHeader, ITEM_HEADER_SIZE);
  }

  void AssociateRequestParser::OnField() noexcept
  {
    switch (step_)
    {
      case Step::PduHeader:
        return OnPduHeader();
      case Step::Fixed:
        return OnFixed();
      case Step::ItemHeader:
        return OnItemHeader();
      case Step::Item:
        return OnItem();
    }
  }

  void AssociateRequestParser::OnPduHeader() noexcept
  {
    const std::uint32_t length = load_big_u32(field_.data() + 2);

    if (field_[0] != static_cast<std::uint8_t>(PduType::AssociateRequest) || length < FIXED_SIZE ||
        length > MAXIMUM_LENGTH)
    {
      return Fail();
    }

    left_ = length - FIXED_SIZE;
    Expect(Step::Fixed, FIXED_SIZE);
  }

  void AssociateRequestParser::OnFixed() noexcept
  {
    // PS3.8 table 9-11: bit 0 of the protocol version must be tested, the others not
    const std::uint16_t version = load_big_u16(field_.data());

    if ((version & 1U) == 0)
    {
      return Fail();
    }

    request_.calledTitle.Assign(ToText(field_.data() + 4, 16));
    request_.callingTitle.Assign(ToText(field_.data() + 20, 16));
    ExpectItem();
  }

  void AssociateRequestParser::OnItemHeader() noexcept
  {
    item_ = field_[0];
    const std::uint32_t length = load_big_u16(field_.data() + 2);

    if (length > left_)
    {
      return Fail();
    }

    // The items in the user information have the same header: they are read as if they followed it
    if (item_ == ITEM_USER_INFORMATION)
    {
      return ExpectItem();
    }

    left_ -= length;

    if ((item_ == ITEM_MAXIMUM_LENGTH && length == 4) ||
        (item_ == ITEM_IMPLEMENTATION_VERSION_NAME && length != 0 && length <= FIXED_SIZE))
    {
      return Expect(Step::Item, length);
    }

    skip_ = length;

    if (skip_ == 0)
    {
      ExpectItem();
    }
  }

  void AssociateRequestParser::OnItem() noexcept
  {
    if (item_ == ITEM_MAXIMUM_LENGTH)
    {
      request_.maximumLength = load_big_u32(field_.data());
    }
    else
    {
      request_.implementationVersionName.Assign(ToText(field_.data(), need_));
    }

    ExpectItem();
  }
}
