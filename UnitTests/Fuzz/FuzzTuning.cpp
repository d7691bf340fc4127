// SPDX-License-Identifier: GPL-3.0-or-later
// Any text as the body of PUT /perf/tuning: it is refused with a SettingError, or accepted, and
// then shown, put again, and saved and loaded without a change.
// Any text as what the database kept of an earlier release: it is in force, or is ignored with a
// warning.
#include "Fuzz/Require.h"
#include "Tuning/Json.h"
#include "Tuning/PerfConfiguration.h"
#include "Tuning/TuningReader.h"
#include "Tuning/TuningStore.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

using namespace OrthancPerf;

namespace
{
  // A database of one text
  TuningPersistence Use(std::optional<std::string>& kept)
  {
    return {[&kept] { return kept; },
            [&kept](const std::string& text)
            {
              kept = text.empty() ? std::nullopt : std::make_optional(text);
            }};
  }

  void TryAsConfiguration(const Json::Value& json)
  {
    try
    {
      const PerfConfiguration configuration = PerfConfiguration::Parse(json);
      Require(configuration.tuning ==
              ApplyTuning(Tuning(), ReadTuningPatch(ToJson(configuration.tuning))));
    }
    catch (const SettingError& e)
    {
      Require(!e.key.empty());
    }
  }

  void TryAsPatch(const Json::Value& json)
  {
    std::optional<std::string> persistence;
    TuningStore store(Tuning(), Use(persistence), {});
    const TuningOutcome outcome = store.Merge(json);
    Require(outcome.warnings.empty());

    const Json::Value shown = ToJson(*outcome.tuning);
    Require(*TuningStore(Tuning(), Use(persistence), {}).Load().tuning == *outcome.tuning);
    Require(*store.Merge(shown).tuning == *outcome.tuning);

    const std::string text = shown.toStyledString();
    Require(*store.Merge(ParseJson(text.data(), text.size())).tuning == *outcome.tuning);
    Require(*store.Reset().tuning == Tuning());
    Require(!persistence);
  }

  void TryAsSaved(const std::string& text)
  {
    std::optional<std::string> persistence;

    if (!text.empty())
    {
      persistence = text;
    }

    TuningStore store(Tuning(), Use(persistence), {});
    const TuningOutcome loaded = store.Load();
    Require(*store.Merge(ToJson(*loaded.tuning)).tuning == *loaded.tuning);
    Require(*TuningStore(Tuning(), Use(persistence), {}).Load().tuning == *loaded.tuning);
    Require(*store.Reset().tuning == Tuning());
  }
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  TryAsSaved(std::string(reinterpret_cast<const char*>(data), size));

  try
  {
    const Json::Value json = ParseJson(data, size);
    TryAsConfiguration(json);
    TryAsPatch(json);
  }
  catch (const SettingError& e)
  {
    Require(!std::string(e.what()).empty());
  }

  return 0;
}
