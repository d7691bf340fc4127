// SPDX-License-Identifier: GPL-3.0-or-later
// Any text as the body of PUT /perf/tuning: it is refused with a SettingError, or accepted, and
// then shown, put again, and saved and loaded without a change, also if the database answers later.
// Any text as what the database kept of an earlier release: it is in force, or is ignored with a
// warning.
#include "Fuzz/Require.h"
#include "Tuning/ParseJson.h"
#include "Tuning/PerfConfiguration.h"
#include "Tuning/SettingError.h"
#include "Tuning/TuningReader.h"
#include "Tuning/TuningStore.h"

#include <cstddef>
#include <cstdint>
#include <stdexcept>

using namespace OrthancPerf;

namespace
{
  class MemoryPersistence
  {
  public:
    std::optional<std::string> Load()
    {
      if (isAway_)
      {
        throw std::runtime_error("away");
      }

      return text_;
    }

    void Save(const std::string& text)
    {
      text_ = text.empty() ? std::nullopt : std::optional<std::string>(text);
    }

    void SetAway(bool isAway)
    {
      isAway_ = isAway;
    }

  private:
    bool isAway_ = false;
    std::optional<std::string> text_;
  };


  TuningPersistence Use(MemoryPersistence& persistence)
  {
    return {[&persistence] { return persistence.Load(); },
            [&persistence](const std::string& text)
            {
              persistence.Save(text);
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
      Require(!e.GetKey().empty());
    }
  }


  void TryAsPatch(const Json::Value& json)
  {
    MemoryPersistence persistence;
    TuningStore store(Tuning(), Use(persistence), {});
    const TuningOutcome outcome = store.Merge(json);
    Require(outcome.warnings.empty());

    const Json::Value shown = ToJson(*outcome.tuning);
    Require(*TuningStore(Tuning(), Use(persistence), {}).Load().tuning == *outcome.tuning);
    Require(*store.Merge(shown).tuning == *outcome.tuning);

    const std::string text = shown.toStyledString();
    Require(*store.Merge(ParseJson(text.data(), text.size())).tuning == *outcome.tuning);
    Require(*store.Reset().tuning == Tuning());
    Require(!persistence.Load());
  }


  // The same as if the database had answered from the start
  void TryWhileNothingIsLoaded(const Json::Value& json)
  {
    MemoryPersistence persistence;
    persistence.Save(R"({"DicomSockets": {"TcpNoDelay": false, "KeepAliveSeconds": 9},
                         "IngestTranscoding": {"Engine": "gdcm", "LossyQuality": 50}})");
    MemoryPersistence early = persistence;
    early.SetAway(true);
    TuningStore store(Tuning(), Use(early), {});
    store.Merge(json);
    early.SetAway(false);
    Require(*store.Load().tuning ==
            *TuningStore(Tuning(), Use(persistence), {}).Merge(json).tuning);
    Require(early.Load() == persistence.Load() && !store.IsUnsaved());
  }


  void TryAsSaved(const std::string& text)
  {
    MemoryPersistence persistence;
    persistence.Save(text);
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
    TryWhileNothingIsLoaded(json);
  }
  catch (const SettingError& e)
  {
    Require(!std::string(e.what()).empty());
  }

  return 0;
}
