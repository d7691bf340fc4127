// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <string>

namespace OrthancPerf
{
  // Where the values of the tuning in force come from. Both documents are sparse and in canonical
  // form (TuningReader): what the configuration sets, and what was changed over REST, which counts
  // more. Plain functions; any thread.

  // Each key with "Value" and "Source": "Default", "Configuration" or "REST". The latter has
  // "Configured", too: what would be in force without the change. "Preset" follows from the others
  // and is left out.
  Json::Value DescribeSources(const Json::Value& configuration, const Json::Value& overrides);

  // Names what was changed to something else than the configuration asks for:
  // "DicomSockets.TcpNoDelay is false (configured: true)"; empty if there is nothing
  std::string DescribeOverridden(const Json::Value& configuration, const Json::Value& overrides);
}
