// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/DicomInstance.h"

namespace OrthancPerf
{
  Origin ToOrigin(OrthancPluginInstanceOrigin origin)
  {
    switch (origin)
    {
      case OrthancPluginInstanceOrigin_DicomProtocol:
        return Origin::DicomProtocol;

      case OrthancPluginInstanceOrigin_RestApi:
        return Origin::RestApi;

      case OrthancPluginInstanceOrigin_Plugin:
        return Origin::Plugin;

      case OrthancPluginInstanceOrigin_Lua:
        return Origin::Lua;

      case OrthancPluginInstanceOrigin_WebDav:
        return Origin::WebDav;

      default:
        return Origin::Unknown;
    }
  }


  KnownInstance DescribeInstance(OrthancPluginContext* context,
                                 const OrthancPluginDicomInstance* instance)
  {
    KnownInstance known;
    known.origin = ToOrigin(OrthancPluginGetInstanceOrigin(context, instance));

    const std::int64_t size = OrthancPluginGetInstanceSize(context, instance);
    known.size = size > 0 ? static_cast<std::size_t>(size) : 0;

    if (known.origin == Origin::DicomProtocol)
    {
      const char* aet = OrthancPluginGetInstanceRemoteAet(context, instance);
      known.peer.name = MakePrintable(aet == nullptr ? "" : aet);
    }

    return known;
  }

  KnownInstance DescribeStoredInstance(OrthancPluginContext* context,
                                       const OrthancPluginDicomInstance* instance,
                                       const char* instanceId)
  {
    KnownInstance known = DescribeInstance(context, instance);
    known.instanceId = instanceId;

    if (!known.peer.name.empty() &&
        OrthancPluginHasInstanceMetadata(context, instance, "RemoteIP") == 1)
    {
      const char* address = OrthancPluginGetInstanceMetadata(context, instance, "RemoteIP");
      known.peer.address = MakePrintable(address == nullptr ? "" : address);
    }

    return known;
  }
}
