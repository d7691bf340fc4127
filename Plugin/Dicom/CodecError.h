// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <stdexcept>

namespace OrthancPerf
{
  // Why an engine does not cover a source or a target, in words without patient data: becomes
  // TranscodingOutcome::Declined. All other exceptions become TranscodingOutcome::Failed.
  class NotCovered : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };

  // What is wrong with a source, or went wrong in a codec, in words without patient data
  class CodecError : public std::runtime_error
  {
  public:
    using std::runtime_error::runtime_error;
  };
}
