// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/SettingKey.h"
#include "Tuning/TextListKind.h"

#include <json/value.h>

#include <algorithm>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Who may change the tuning: "AllowTuning" in the configuration. A value.
  struct TuningPermission
  {
    bool isForAll = true;            // whom Orthanc lets in, and what runs inside it
    std::vector<std::string> users;  // else only these of Orthanc's users; none: nobody

    // The user whose password has been checked; empty: nobody knows who asks
    bool Allows(const std::string& user) const
    {
      return isForAll ||
             (!user.empty() && std::find(users.begin(), users.end(), user) != users.end());
    }
  };


  struct TuningPermissionKind
  {
    static constexpr const char* TYPE = "boolean or list";

    static std::string GetAllowed()
    {
      return "true or false, or " + MakeUsersKind().GetAllowed();
    }

    static bool Read(const Json::Value& value, TuningPermission& place)
    {
      TuningPermission permission;
      const bool isRead = SwitchKind::Read(value, permission.isForAll) ||
                          MakeUsersKind().Read(value, permission.users);

      if (isRead)
      {
        permission.isForAll = permission.isForAll && value.isBool();
        place = permission;
      }

      return isRead;
    }

    static Json::Value Write(const TuningPermission& permission)
    {
      const bool isSwitch = permission.isForAll || permission.users.empty();
      return isSwitch ? Json::Value(permission.isForAll) : TextListKind::Write(permission.users);
    }
  };
}
