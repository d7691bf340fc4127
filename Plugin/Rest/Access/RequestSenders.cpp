// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/RequestSenders.h"

namespace OrthancPerf
{
  void RequestSenders::Identify(RestRequest& request, const std::string& address) const
  {
    if (address.empty())
    {
      return;
    }

    const std::string forwarded = request.GetHeader("x-forwarded-for").value_or("");
    request.address = DescribeText(proxies.FindClient(address, forwarded));
    request.proxy = request.address == address ? "" : DescribeText(address);
    request.user = users.Identify(request.GetHeader("authorization").value_or(""));
  }
}
