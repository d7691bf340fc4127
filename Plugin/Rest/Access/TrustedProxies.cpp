// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/TrustedProxies.h"

#include "Tuning/TextListKind.h"

#include <boost/algorithm/string/trim.hpp>

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  TrustedProxies::TrustedProxies(std::vector<std::string> addresses) :
    addresses_(std::move(addresses))
  {
  }


  bool TrustedProxies::Has(const std::string& address) const
  {
    return std::find(addresses_.begin(), addresses_.end(), address) != addresses_.end();
  }


  std::string TrustedProxies::FindClient(const std::string& address,
                                         const std::string& forwardedFor) const
  {
    std::string client = address;
    std::string rest = forwardedFor;

    // Each proxy has added who reached it at the end
    while (Has(client) && !rest.empty())
    {
      const std::size_t comma = rest.rfind(',');
      const bool isFirst = comma == std::string::npos;
      const std::string entry =
          NormalizeIpAddress(boost::algorithm::trim_copy(isFirst ? rest : rest.substr(comma + 1)));

      if (entry.empty())
      {
        return client;
      }

      client = entry;
      rest = isFirst ? "" : rest.substr(0, comma);
    }

    return client;
  }
}
