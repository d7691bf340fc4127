// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcostrma.h>
#include <string>
#include <utility>

namespace OrthancPerf
{
  // Takes what DCMTK writes, as a string that grows. One thread.
  class StringConsumer : public DcmConsumer
  {
  public:
    explicit StringConsumer(std::size_t expectedSize);

    OFBool good() const override;
    OFCondition status() const override;
    OFBool isFlushed() const override;
    offile_off_t avail() const override;
    offile_off_t write(const void* data, offile_off_t size) override;
    void flush() override;

    std::string& GetString() noexcept
    {
      return string_;
    }

  private:
    std::string string_;
  };


  // The same as a stream for DCMTK's write functions
  class OutputString : public DcmOutputStream
  {
  public:
    explicit OutputString(std::size_t expectedSize);

    ~OutputString() override;

    // The stream is of no more use then
    std::string Take() noexcept
    {
      return std::move(consumer_.GetString());
    }

  private:
    StringConsumer consumer_;
  };
}
