// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <map>
#include <string>

namespace OrthancPerf
{
  // The users of "RegisteredUsers" in Orthanc's configuration, and whether a request comes from one
  // of them. That Orthanc has let a request in says nothing of the user that it names: Orthanc may
  // ask for no password, or, since 1.12.9, leave all of that to a plugin, which looks at what it
  // likes. So the password is compared here once more. Owned by the plugin's context; constant, any
  // thread.
  class RegisteredUsers
  {
  public:
    // Of the whole configuration. There are none if Orthanc asks for no password.
    explicit RegisteredUsers(const Json::Value& orthancConfiguration);

    // Whether Orthanc asks for a password
    bool AreAsked() const
    {
      return areAsked_;
    }

    bool Has(const std::string& user) const
    {
      return passwords_.count(user) != 0;
    }

    // The user whose name and password the header "Authorization" has, in the scheme "Basic"
    // (RFC 7617); empty: nobody's
    std::string Identify(const std::string& authorization) const;

  private:
    bool areAsked_;
    std::map<std::string, std::string> passwords_;
  };
}
