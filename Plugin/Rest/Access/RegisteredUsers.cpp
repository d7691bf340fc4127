// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Access/RegisteredUsers.h"

#include "Rest/Access/BasicCredentials.h"

namespace OrthancPerf
{
  namespace
  {
    // As Orthanc's StartHttpServer decides it
    bool AsksForPasswords(const Json::Value& configuration)
    {
      const Json::Value& enabled = configuration["AuthenticationEnabled"];
      const Json::Value& isRemote = configuration["RemoteAccessAllowed"];
      return enabled.isBool() ? enabled.asBool() : isRemote.isBool() && isRemote.asBool();
    }
  }


  RegisteredUsers::RegisteredUsers(const Json::Value& orthancConfiguration) :
    areAsked_(AsksForPasswords(orthancConfiguration))
  {
    const Json::Value& users = orthancConfiguration["RegisteredUsers"];

    if (!areAsked_ || !users.isObject())
    {
      return;
    }

    for (const std::string& user : users.getMemberNames())
    {
      if (users[user].isConvertibleTo(Json::stringValue))
      {
        passwords_[user] = users[user].asString();
      }
    }
  }


  std::string RegisteredUsers::Identify(const std::string& authorization) const
  {
    const BasicCredentials credentials = ReadBasicCredentials(authorization);
    const auto user = passwords_.find(credentials.user);
    const bool isRight = user != passwords_.end() && user->second == credentials.password;
    return isRight ? user->first : "";
  }
}
