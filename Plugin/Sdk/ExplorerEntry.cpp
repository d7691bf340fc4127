// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/ExplorerEntry.h"

namespace OrthancPerf
{
  namespace
  {
    // Both explorers make it relative to their own address, so that a prefix of a proxy stays
    constexpr const char* ROOT_URI = "/perf";

    // Before jQuery Mobile has turned the links of the first page into buttons; "external" keeps it
    // from loading the dashboard into its own page
    constexpr const char* BUTTON = R"(
$('#lookup').live('pagebeforecreate', function() {
  $('<a>')
    .attr({ id: 'perf-dashboard', href: '../perf', rel: 'external', 'data-role': 'button',
            'data-icon': 'info' })
    .text('Performance')
    .appendTo($('#lookup div.ui-btn-right'));
});
)";
  }


  void AddToExplorers(OrthancPluginContext* context, const char* plugin)
  {
#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 12, 4)
    OrthancPluginSetRootUri2(context, plugin, ROOT_URI);
    OrthancPluginExtendOrthancExplorer2(context, plugin, BUTTON);
#else
    static_cast<void>(plugin);  // these ask the plugin itself for its name
    OrthancPluginSetRootUri(context, ROOT_URI);
    OrthancPluginExtendOrthancExplorer(context, BUTTON);
#endif
  }
}
