// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningStore.h"

#include "Tuning/JsonMergePatch.h"
#include "Tuning/ParseJson.h"
#include "Tuning/TuningReader.h"

#include <exception>
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


    // Makes the one patch do what both do, one after the other. Both name keys, not whole sections.
    void Append(const Json::Value& later, Json::Value& patch)
    {
      for (const std::string& section : later.getMemberNames())
      {
        for (const std::string& key : later[section].getMemberNames())
        {
          patch[section][key] = later[section][key];
        }
      }
    }
  }


  TuningStore::TuningStore(const Tuning& configured, std::optional<TuningPersistence> persistence,
                           TuningObserver observer, TuningCheck check) :
    configured_(configured),
    persistence_(std::move(persistence)),
    observer_(std::move(observer)),
    check_(std::move(check)),
    overrides_(Json::objectValue),
    tuning_(std::make_shared<const Tuning>(configured))
  {
  }


  void TuningStore::Announce()
  {
    const std::lock_guard<std::mutex> lock(changeMutex_);
    NotifyObserver();
  }


  TuningOutcome TuningStore::Load()
  {
    std::vector<std::string> warnings;

    {
      const std::lock_guard<std::mutex> lock(changeMutex_);
      LoadOnce(warnings);
    }

    if (isLoaded_ && isUnsaved_)
    {
      SaveOverrides(warnings);
    }

    return {Get(), warnings};
  }


  TuningOutcome TuningStore::Merge(const Json::Value& patch, const OnTuningChange& onChange)
  {
    const Json::Value canonical = ReadTuningPatch(patch);
    TuningOutcome outcome;

    {
      const std::lock_guard<std::mutex> lock(changeMutex_);
      LoadOnce(outcome.warnings);
      const Json::Value overrides = WithoutEmptySections(MergeJson(GetOverrides(), canonical));

      if (check_)
      {
        check_(*Get(), ApplyTuning(configured_, overrides));
      }

      if (!IsLoaded())
      {
        Append(canonical, unloaded_);
      }

      outcome.tuning = Change(overrides, onChange);
    }

    SaveOverrides(outcome.warnings);
    return outcome;
  }


  TuningOutcome TuningStore::Reset(const OnTuningChange& onChange)
  {
    TuningOutcome outcome;

    {
      const std::lock_guard<std::mutex> lock(changeMutex_);

      // What was saved is of no interest any more, readable or not, but must be cleared
      isSaved_ = isSaved_ && isLoaded_;
      isLoaded_ = true;
      unloaded_.clear();
      outcome.tuning = Change(Json::objectValue, onChange);
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

    Json::Value saved(Json::objectValue);

    try
    {
      const std::optional<std::string> text = persistence_->load();
      isLoaded_ = true;

      if (text)
      {
        isSaved_ = false;  // until it is known to be what PutInForce keeps
        saved = ReadSavedTuning(ParseJson(text->data(), text->size()), SAVED_CHANGES, warnings);
        isSaved_ = warnings.empty();
      }
    }
    catch (const std::exception& e)
    {
      warnings.push_back(std::string("The configuration is in force") +
                         (isLoaded_ ? "" : " until the database answers") +
                         ", without the saved changes of the tuning: " + e.what());
    }

    if (isLoaded_)
    {
      const Json::Value overrides = WithoutEmptySections(MergeJson(saved, unloaded_));
      isSaved_ = isSaved_ && overrides == saved;
      unloaded_.clear();
      PutInForce(overrides);
    }
  }


  std::shared_ptr<const Tuning> TuningStore::Change(const Json::Value& overrides,
                                                    const OnTuningChange& onChange)
  {
    if (overrides != GetOverrides())
    {
      const std::shared_ptr<const Tuning> before = Get();
      isSaved_ = false;
      PutInForce(overrides);

      if (onChange)
      {
        onChange(*before, *Get());
      }
    }

    return Get();
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
      NotifyObserver();
    }
  }


  void TuningStore::SaveOverrides(std::vector<std::string>& warnings)
  {
    const std::lock_guard<std::mutex> saving(saveMutex_);
    std::unique_lock<std::mutex> lock(changeMutex_);

    if (!IsLoaded())
    {
      // Not over what was saved, which is unknown
      if (!unloaded_.empty())
      {
        isUnsaved_ = true;
        warnings.push_back(
            "The tuning is in force, but could not be saved yet. It is saved as soon as the "
            "database answers. If Orthanc restarts before, this change is lost");
      }

      return;
    }

    isUnsaved_ = persistence_ && !isSaved_;

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
      isSaved_ = overrides == GetOverrides();  // or another one is to be saved next
      isUnsaved_ = !isSaved_;
    }
    catch (const std::exception& e)
    {
      warnings.push_back(
          std::string("The tuning is in force, but could not be saved. Unless a later change is "
                      "saved, Orthanc's next restart undoes this one: ") +
          e.what());
    }
  }


  void TuningStore::NotifyObserver() const
  {
    if (observer_)
    {
      observer_(*Get());
    }
  }
}
