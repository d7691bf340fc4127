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
    while (status_ == Status::NeedMore && size > 0)
    {
      const std::size_t taken = std::min(size, need_ - have_);
      const std::size_t kept = std::min(have_, field_.size());
      std::copy_n(data, std::min(taken, field_.size() - kept), field_.begin() + kept);
      have_ += taken;
      data += taken;
      size -= taken;

      if (have_ == need_)
      {
        OnField();
      }
    }

    return status_;
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
    if (left_ == 0 || left_ < ITEM_HEADER_SIZE)
    {
      status_ = left_ == 0 ? Status::Complete : Status::Failed;
      return;
    }

    left_ -= ITEM_HEADER_SIZE;
    Expect(Step::ItemHeader, ITEM_HEADER_SIZE);
  }

  void AssociateRequestParser::OnField() noexcept
  {
    switch (step_)
    {
      case Step::PduHeader:
      {
        const std::uint32_t length = load_big_u32(&field_[2]);
        const bool isRequest = field_[0] == static_cast<std::uint8_t>(PduType::AssociateRequest) &&
                               length >= FIXED_SIZE && length <= MAXIMUM_LENGTH;
        status_ = isRequest ? Status::NeedMore : Status::Failed;
        left_ = length - FIXED_SIZE;
        return Expect(Step::Fixed, FIXED_SIZE);
      }
      case Step::Fixed:
        request_.calledTitle.Assign(ToText(&field_[4], 16));
        request_.callingTitle.Assign(ToText(&field_[20], 16));
        ExpectItem();

        // PS3.8 table 9-11: bit 0 of the protocol version must be tested, the others not
        status_ = (field_[1] & 1U) == 0 ? Status::Failed : status_;
        return;
      case Step::ItemHeader:
        return OnItemHeader();
      case Step::Item:
        OnItem();
        return ExpectItem();
    }
  }

  void AssociateRequestParser::OnItemHeader() noexcept
  {
    const std::uint32_t length = load_big_u16(&field_[2]);
    item_ = field_[0];

    if (length > left_)
    {
      status_ = Status::Failed;
    }
    // The items in the user information have the same header: they are read as if they followed it
    else if (item_ == ITEM_USER_INFORMATION || length == 0)
    {
      ExpectItem();
    }
    else
    {
      left_ -= length;
      Expect(Step::Item, length);
    }
  }

  void AssociateRequestParser::OnItem() noexcept
  {
    if (item_ == ITEM_MAXIMUM_LENGTH && need_ == 4)
    {
      request_.maximumLength = load_big_u32(field_.data());
    }
    else if (item_ == ITEM_IMPLEMENTATION_VERSION_NAME && need_ <= field_.size())
    {
      request_.implementationVersionName.Assign(ToText(field_.data(), need_));
    }
  }
}
