// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningDocument.h"

#include <json/value.h>

#include <map>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // The tuning document as JSON, and back. JSON documents may be sparse: what they do not name
  // stays. The Read functions check everything and return the document in its canonical form:
  // known keys only, "Preset" replaced by the keys that it sets, transfer syntaxes as UIDs,
  // integers as integers. They throw SettingError on the first value that is not acceptable.
  // Plain functions; any thread.

  // A merge patch of the REST API: null is allowed, and kept, for a key, and for a section or its
  // "Preset", where it stands for all their keys; an unknown key is an error.
  Json::Value ReadTuningPatch(const Json::Value& patch);

  // A document of the configuration, found at "path" (for the messages): what is null, or unknown,
  // is left out, the latter with a warning each. "isSaved": by an earlier run, maybe one of a newer
  // version. Then a wrong value is left out as well, if the document is an object.
  Json::Value ReadTuningConfiguration(const Json::Value& document, const std::string& path,
                                      std::vector<std::string>& warnings, bool isSaved = false);

  // The base with all values of a document that came from one of the Read functions; its nulls
  // change nothing
  Tuning ApplyTuning(const Tuning& base, const Json::Value& document);

  // The whole document, "Preset" included. ReadTuningPatch accepts it.
  Json::Value ToJson(const Tuning& tuning);

  // The whole document as numbers by the paths of its keys, for the gauge orthanc_perf_tuning:
  // switches as 0 and 1; numbers as they are; buffers in bytes, 0 for "auto", -1 for "default"; the
  // preset and the engine by their place in GetAllSocketPresets() and GetAllEngineChoices(); the
  // transfer syntax as 1 where there is one, 2 if it is lossy. Names have no number and are left
  // out.
  std::map<std::string, double> ToFigures(const Tuning& tuning);

  // Each key with "Value" and "Source": "Default", "Configuration" or "REST", of two documents from
  // the Read functions: what the configuration sets, and what was changed over REST, which counts
  // more. The latter has "Configured", too: what would be in force without the change. "Preset"
  // follows from the others and is left out.
  Json::Value DescribeSources(const Json::Value& configuration, const Json::Value& overrides);

  // All paths of the document, sections included, each after "path" (see JoinPath)
  std::vector<std::string> GetTuningPaths(const std::string& path);
}
