// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/RequestSenders.h"

#include "Tuning/JsonValues.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    const TrustedProxies PROXIES({"127.0.0.1", "::1", "10.0.0.2"});
  }


  TEST(TrustedProxies, AreBelievedOnWhoReachedThem)
  {
    EXPECT_EQ("192.168.1.5", PROXIES.FindClient("127.0.0.1", "192.168.1.5"));
    EXPECT_EQ("192.168.1.5", PROXIES.FindClient("::1", "10.9.8.7, 192.168.1.5"));
    EXPECT_EQ("192.168.1.5", PROXIES.FindClient("127.0.0.1", "10.9.8.7,192.168.1.5 , 10.0.0.2"));
    EXPECT_EQ("fe80::1", PROXIES.FindClient("127.0.0.1", "FE80:0::1"));
    EXPECT_EQ("10.0.0.2", PROXIES.FindClient("127.0.0.1", "10.0.0.2"));
  }


  TEST(TrustedProxies, OthersAreNotBelieved)
  {
    EXPECT_EQ("192.168.1.5", PROXIES.FindClient("192.168.1.5", "10.9.8.7"));
    EXPECT_EQ("127.0.0.1", TrustedProxies({}).FindClient("127.0.0.1", "10.9.8.7"));
    EXPECT_EQ("unknown", PROXIES.FindClient("unknown", "10.9.8.7"));
  }


  TEST(TrustedProxies, WhatIsNoAddressIsNotRepeated)
  {
    for (const std::string& header :
         {std::string(), std::string("alice"), std::string("<b>"), std::string("10.9.8.7, unknown"),
          std::string("10.9.8.7,"), std::string("10.9.8.7:80"), std::string("1.2.3.4\nE0000 evil"),
          std::string("10.9.8.7\0x", 10), std::string(100'000, ','), std::string(100'000, '1')})
    {
      EXPECT_EQ("127.0.0.1", PROXIES.FindClient("127.0.0.1", header));
    }
  }


  TEST(RequestSenders, ARequestFromInsideIsNobodys)
  {
    const RequestSenders senders = {
        RegisteredUsers(
            Parse(R"({"AuthenticationEnabled": true, "RegisteredUsers": {"alice": "secret"}})")),
        PROXIES};
    RestRequest request;
    request.headers = {{"authorization", "Basic YWxpY2U6c2VjcmV0"},
                       {"x-forwarded-for", "192.168.1.5"}};

    senders.Identify(request, "");
    EXPECT_EQ("", request.user + request.address + request.proxy);

    senders.Identify(request, "127.0.0.1");
    EXPECT_EQ("alice", request.user);
    EXPECT_EQ("192.168.1.5", request.address);
    EXPECT_EQ("127.0.0.1", request.proxy);

    senders.Identify(request, "10.9.8.7");
    EXPECT_EQ("10.9.8.7", request.address);
    EXPECT_EQ("", request.proxy);
  }
}
