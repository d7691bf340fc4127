// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningStore.h"

#include "Tuning/Json.h"
#include "Tuning/TuningReader.h"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* SAVED_CHANGES = "SavedTuning";  // the path in messages

    // Sections whose last key was taken back would be saved for nothing
    Json::Value WithoutEmptySections(const Json::Value& document)
    {
      Json::Value kept(Json::objectValue);

      for (const std::string& section : document.getMemberNames())
      {
        if (!document[section].empty())
        {
          kept[section] = document[section];
        }
      }

      return kept;
    }

    // A preset is set by all that it stands for; "custom" is none that could be set
    Json::Value MakeUndo(const Json::Value& before, const Json::Value& after)
    {
      Json::Value undo = DiffJson(after, before);

      if (undo.isMember("DicomSockets"))
      {
        undo["DicomSockets"].removeMember("Preset");
      }

      return undo;
    }
  }

  TuningStore::TuningStore(const Tuning& configured, std::optional<TuningPersistence> persistence,
                           TuningObserver observer, TuningCheck check, Log log, WallNow now) :
    configured_(configured),
    persistence_(std::move(persistence)),
    observer_(observer ? std::move(observer) : [](const Tuning&) {}),
    check_(std::move(check)),
    log_(log ? std::move(log) : [](const std::string&) {}),
    now_(std::move(now)),
    overrides_(Json::objectValue),
    tuning_(std::make_shared<const Tuning>(configured))
  {
  }

  void TuningStore::Announce()
  {
    const std::lock_guard<std::mutex> lock(changeMutex_);
    observer_(*Get());
  }

  TuningOutcome TuningStore::Load()
  {
    std::vector<std::string> warnings;
    const std::lock_guard<std::mutex> lock(changeMutex_);

    try
    {
      LoadOnce(warnings);
    }
    catch (const std::exception& e)
    {
      warnings.emplace_back(e.what());
    }

    return {Get(), warnings};
  }

  TuningOutcome TuningStore::Merge(const Json::Value& patch, const TuningAuthor& author)
  {
    const Json::Value canonical = ReadTuningPatch(patch);

    if (canonical.empty())
    {
      return {Get(), {}};
    }

    TuningOutcome outcome;

    {
      const std::lock_guard<std::mutex> lock(changeMutex_);
      LoadOnce(outcome.warnings);
      const Json::Value overrides = WithoutEmptySections(MergeJson(GetOverrides(), canonical));

      if (check_)
      {
        check_(*Get(), ApplyTuning(configured_, overrides));
      }

      outcome.tuning = Change(overrides, author);
    }

    SaveOverrides(outcome.warnings);
    return outcome;
  }

  TuningOutcome TuningStore::Reset(const TuningAuthor& author)
  {
    TuningOutcome outcome;

    {
      const std::lock_guard<std::mutex> lock(changeMutex_);

      // What was saved is of no interest any more, readable or not, but must be cleared
      isLoaded_ = true;
      isUnsaved_ = persistence_.has_value();
      outcome.tuning = Change(Json::objectValue, author);
    }

    SaveOverrides(outcome.warnings);
    return outcome;
  }

  std::shared_ptr<const Tuning> TuningStore::Get() const
  {
    const std::lock_guard<std::mutex> lock(stateMutex_);
    return tuning_;
  }

  Json::Value TuningStore::GetOverrides() const
  {
    const std::lock_guard<std::mutex> lock(stateMutex_);
    return overrides_;
  }

  bool TuningStore::IsLoaded() const noexcept
  {
    return isLoaded_ || !persistence_;
  }

  bool TuningStore::IsUnsaved() const noexcept
  {
    return isUnsaved_;
  }

  void TuningStore::LoadOnce(std::vector<std::string>& warnings)
  {
    if (IsLoaded())
    {
      return;
    }

    std::optional<std::string> text;

    try
    {
      text = persistence_->load();
    }
    catch (const std::exception& e)
    {
      throw std::runtime_error(
          std::string("The saved changes of the tuning cannot be read. Until the database answers, "
                      "the configuration is in force, and only DELETE /perf/tuning is possible: ") +
          e.what());
    }

    isLoaded_ = true;

    try
    {
      if (text)
      {
        const std::string& saved = *text;
        PutInForce(WithoutEmptySections(ReadTuningConfiguration(
            ParseJson(saved.data(), saved.size()), SAVED_CHANGES, warnings, true)));
      }
    }
    catch (const SettingError& e)
    {
      warnings.push_back(
          std::string("The configuration is in force, without the saved changes of the tuning: ") +
          e.what());
    }
  }

  std::shared_ptr<const Tuning> TuningStore::Change(const Json::Value& overrides,
                                                    const TuningAuthor& author)
  {
    if (overrides != GetOverrides())
    {
      const std::shared_ptr<const Tuning> before = Get();
      isUnsaved_ = persistence_.has_value();
      PutInForce(overrides);
      Note(*before, *Get(), author);
    }

    return Get();
  }

  void TuningStore::Note(const Tuning& before, const Tuning& after, const TuningAuthor& author)
  {
    const Json::Value old = ToJson(before);
    const Json::Value change = DiffJson(old, ToJson(after));

    if (change.empty())
    {
      return;
    }

    log_("the tuning was changed " + author.Describe() + ": " + ToText(change));

    const std::lock_guard<std::mutex> lock(stateMutex_);
    changes_.push_back({now_(), change, MakeUndo(old, ToJson(after)), author});

    if (changes_.size() > MAXIMUM_CHANGES)
    {
      changes_.pop_front();
    }
  }

  std::vector<TuningChange>
  TuningStore::GetChanges(std::chrono::system_clock::time_point since) const
  {
    const std::lock_guard<std::mutex> lock(stateMutex_);
    std::vector<TuningChange> found;
    std::copy_if(changes_.begin(), changes_.end(), std::back_inserter(found),
                 [since](const TuningChange& change) { return change.time >= since; });
    return found;
  }

  void TuningStore::PutInForce(const Json::Value& overrides)
  {
    const auto tuning = std::make_shared<const Tuning>(ApplyTuning(configured_, overrides));
    const bool isNew = !(*tuning == *Get());

    {
      const std::lock_guard<std::mutex> lock(stateMutex_);
      overrides_ = overrides;
      tuning_ = tuning;
    }

    if (isNew)
    {
      observer_(*tuning);
    }
  }

  void TuningStore::SaveOverrides(std::vector<std::string>& warnings)
  {
    const std::lock_guard<std::mutex> saving(saveMutex_);
    std::unique_lock<std::mutex> lock(changeMutex_);

    if (!isUnsaved_)
    {
      return;
    }

    const Json::Value overrides = GetOverrides();
    lock.unlock();

    try
    {
      persistence_->save(overrides.empty() ? "" : ToText(overrides));
      lock.lock();
      isUnsaved_ = overrides != GetOverrides();  // another one is to be saved next
    }
    catch (const std::exception& e)
    {
      warnings.push_back(
          std::string("The tuning is in force, but could not be saved. Unless a later change is "
                      "saved, Orthanc's next restart undoes this one: ") +
          e.what());
    }
  }
}
