// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <orthanc/OrthancCPlugin.h>

namespace OrthancPerf
{
  // Orthanc Explorer gets a button that opens the dashboard; its list of plugins, and the settings
  // of Orthanc Explorer 2, a link. To be called while the plugin is initialized.
  void AddToExplorers(OrthancPluginContext* context, const char* plugin);
}
