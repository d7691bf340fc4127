// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TextListKind.h"

#include <arpa/inet.h>

#include <array>

namespace OrthancPerf
{
  namespace
  {
    // Orthanc takes what is before a zero byte for the whole name
    std::string TakeUser(const std::string& text)
    {
      return text.find_first_of(std::string(":\0", 2)) == std::string::npos ? text : "";
    }
  }


  TextListKind MakeUsersKind()
  {
    return {"a list of Orthanc's users, [\"alice\", ...]", &TakeUser};
  }


  TextListKind MakeIpAddressesKind()
  {
    return {"a list of IP addresses, [\"127.0.0.1\", ...]", &NormalizeIpAddress};
  }


  std::string NormalizeIpAddress(const std::string& text)
  {
    std::array<char, INET6_ADDRSTRLEN> normal = {};
    std::array<unsigned char, sizeof(in6_addr)> address = {};

    for (const int family : {AF_INET, AF_INET6})
    {
      if (text.find('\0') == std::string::npos &&
          inet_pton(family, text.c_str(), address.data()) == 1 &&
          inet_ntop(family, address.data(), normal.data(), normal.size()) != nullptr)
      {
        return normal.data();
      }
    }

    return "";
  }
}
