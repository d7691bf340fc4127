// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <string>
#include <vector>

namespace OrthancPerf
{
  // The reverse proxies whose word on their clients counts: "TrustedProxies" in the configuration.
  // Anybody can send the header "X-Forwarded-For"; only what one of these wrote into it is
  // believed. Owned by the plugin's context; constant, any thread.
  class TrustedProxies
  {
  public:
    // IP addresses, as the operating system writes them
    explicit TrustedProxies(std::vector<std::string> addresses);

    // From where a request comes that reached Orthanc from this address: the last entry of the
    // header that is not a trusted proxy itself. This address, if it is none of them; the proxy's,
    // if its entry is no IP address. Always an IP address, unless "address" is none.
    std::string FindClient(const std::string& address, const std::string& forwardedFor) const;

  private:
    bool Has(const std::string& address) const;

    const std::vector<std::string> addresses_;
  };
}
