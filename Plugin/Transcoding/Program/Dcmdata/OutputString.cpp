// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmdata/OutputString.h"

namespace OrthancPerf
{
  namespace
  {
    // How much DCMTK may hand over at once: it never has to wait
    constexpr offile_off_t PLENTY = offile_off_t(1) << 40;
  }


  StringConsumer::StringConsumer(std::size_t expectedSize)
  {
    string_.reserve(expectedSize);
  }


  OFBool StringConsumer::good() const
  {
    return OFTrue;
  }


  OFCondition StringConsumer::status() const
  {
    return EC_Normal;
  }


  OFBool StringConsumer::isFlushed() const
  {
    return OFTrue;
  }


  offile_off_t StringConsumer::avail() const
  {
    return PLENTY;
  }


  offile_off_t StringConsumer::write(const void* data, offile_off_t size)
  {
    string_.append(static_cast<const char*>(data), static_cast<std::size_t>(size));
    return size;
  }


  void StringConsumer::flush()
  {
  }


  // DcmOutputStream keeps the address of the consumer, and does not use it yet
  OutputString::OutputString(std::size_t expectedSize) :
    DcmOutputStream(&consumer_),
    consumer_(expectedSize)
  {
  }


  OutputString::~OutputString() = default;
}
