-- SPDX-License-Identifier: GPL-3.0-or-later
-- Who may do what below /perf. Orthanc calls this before each request, if its configuration has
-- "LuaScripts" : [ "/etc/orthanc/access.lua" ] and "AuthenticationEnabled" : true. The names are users of
-- "RegisteredUsers". Orthanc's own routes stay as they are, except for users of readsMetricsOnly. Requests from
-- inside Orthanc, by scripts and plugins, do not come here.
local mayTune = { alice = true, orthanc = true }
local readsMetricsOnly = { prometheus = true }
local metrics = { ['/perf/metrics'] = true, ['/perf/health'] = true, ['/tools/metrics-prometheus'] = true }

function IncomingHttpRequestFilter(method, uri, ip, username, httpHeaders)
  if readsMetricsOnly[username] then
    return method == 'GET' and metrics[uri] == true
  end
  -- By a word of the path, because Orthanc accepts several paths for the same route
  local path = string.lower(uri)
  local isChange = string.find(path, 'tuning', 1, true) or string.find(path, 'transcoding', 1, true)
  return method == 'GET' or mayTune[username] == true or not isChange
end
