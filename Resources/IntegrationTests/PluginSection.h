// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstring>
#include <json/json.h>
#include <orthanc/OrthancCPlugin.h>
#include <sstream>
#include <string>

// A section of Orthanc's configuration, which each plugin of the tests has by its own name; null if
// there is none. Throws Json::Exception. Called while Orthanc initializes the plugin.
inline Json::Value ReadSection(OrthancPluginContext* context, const std::string& name)
{
  char* const text = OrthancPluginGetConfiguration(context);
  Json::Value configuration;
  std::istringstream(text) >> configuration;
  OrthancPluginFreeString(context, text);
  return configuration[name];
}

// A file, as the storage area of a plugin hands it to Orthanc
inline OrthancPluginErrorCode GiveFile(OrthancPluginContext* context,
                                       OrthancPluginMemoryBuffer64* target,
                                       const std::string& content)
{
  const OrthancPluginErrorCode code =
      OrthancPluginCreateMemoryBuffer64(context, target, content.size());

  if (code == OrthancPluginErrorCode_Success)
  {
    std::memcpy(target->data, content.data(), content.size());
  }

  return code;
}
