-- SPDX-License-Identifier: GPL-3.0-or-later
-- Who may do what below /perf. Orthanc itself asks this before each request: in its configuration,
-- "LuaScripts" : [ "/etc/orthanc/access.lua" ], with "AuthenticationEnabled" : true. The names are users of
-- "RegisteredUsers". Requests from inside Orthanc, by scripts and plugins, are not asked about.
local mayTune = { alice = true, orthanc = true }
local readsMetricsOnly = { prometheus = true }
local metrics = { ['/perf/metrics'] = true, ['/perf/health'] = true, ['/tools/metrics-prometheus'] = true }

function IncomingHttpRequestFilter(method, uri, ip, username, httpHeaders)
  if readsMetricsOnly[username] then
    return method == 'GET' and metrics[uri] == true
  end
  return method == 'GET' or mayTune[username] == true or string.find(string.lower(uri), 'tuning', 1, true) == nil
end
