// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningDocument.h"

#include <json/value.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Acts on the tuning in force: the sockets, the transcoder. Called on the thread that changes it,
  // one change after the other and in their order, so it must be quick, must not throw, and must
  // not change the tuning itself (it may read it).
  using TuningObserver = std::function<void(const Tuning& tuning)>;

  // Where changes made over REST survive a restart: one text in Orthanc's database. Both may throw
  // std::exception. Called by one thread at a time.
  struct TuningPersistence
  {
    // Nothing if nothing was saved yet, or an empty text since
    std::function<std::optional<std::string>()> load;
    std::function<void(const std::string& text)> save;
  };

  // Whether a change asked for over REST can be had on this machine, beyond what TuningSchema
  // knows. Throws SettingError if it cannot. Called on the thread that changes the tuning.
  using TuningCheck = std::function<void(const Tuning& current, const Tuning& proposed)>;

  // Who asked for a change of the tuning. A value; all texts are printable and bounded.
  struct TuningAuthor
  {
    std::string user;     // that the request names; empty: none
    std::string address;  // that reached Orthanc; empty: a request from inside Orthanc

    // "by the user "alice" from 10.0.0.5"
    std::string Describe() const
    {
      return address.empty()
                 ? "from inside Orthanc, by a script or another plugin"
                 : (user.empty() ? "by " : "by the user \"" + user + "\" from ") + address;
    }
  };

  struct TuningChange
  {
    std::chrono::system_clock::time_point time;
    Json::Value change;  // a merge patch (RFC 7396): what was not in force before
    Json::Value undo;    // the patch that brings it back; without "Preset", which follows from it
    TuningAuthor author;
  };

  struct TuningOutcome
  {
    std::shared_ptr<const Tuning> tuning;  // in force from now on

    // For the log and for whoever asked: saved changes that could not be read and are ignored, or
    // a change that is in force but could not be saved, and is lost at the next restart unless it
    // or a later one is saved by then
    std::vector<std::string> warnings;
  };

  // Owns the tuning in force: the defaults, over them the configuration, over that the changes
  // made over REST ("overrides"), which are kept apart so that they can be taken back.
  //
  // Any thread may call anything. Changes are serialized: each one is checked, put in force and
  // told to the observer before the next one begins, so two requests at once give the result of
  // one after the other, and neither loses what the other one set. They are saved after that, so
  // that a database that hangs keeps none from coming into force; the latest is saved last. Get()
  // never waits, and sees the document before or after a change, never between. A change that is
  // not acceptable throws SettingError and has no effect at all.
  //
  // Each change over REST is a line of the log, written before it is saved, and is kept for charts.
  class TuningStore
  {
  public:
    using Log = std::function<void(const std::string& line)>;
    using WallNow = std::function<std::chrono::system_clock::time_point()>;

    static constexpr std::size_t MAXIMUM_CHANGES = 200;  // some 4 kB each

    // "configured": defaults and configuration. "persistence": nothing if changes need not survive.
    // What was saved or configured is in force without the "check", which is for Merge only.
    TuningStore(const Tuning& configured, std::optional<TuningPersistence> persistence,
                TuningObserver observer = {}, TuningCheck check = {}, Log log = {},
                WallNow now = &std::chrono::system_clock::now);

    // Tells the observer what is in force. To be called once, when it is ready for it; from then on
    // it is told of each change.
    void Announce();

    // Takes up the saved changes. To be called once Orthanc's database can be used, and again until
    // they are loaded. Later calls do nothing.
    TuningOutcome Load();

    // False: it is not known yet whether there are saved changes, as the database did not answer
    bool IsLoaded() const noexcept;

    // The last change is in force, but is not saved yet, or could not be: the next restart undoes
    // it, unless a later one is saved
    bool IsUnsaved() const noexcept;

    // Applies a merge patch (RFC 7396) to the tuning; a null takes a key or a section back to the
    // configuration. An empty patch, by which a page asks whether it may change anything, loads
    // and saves nothing. Others throw std::runtime_error while the saved changes cannot be loaded.
    TuningOutcome Merge(const Json::Value& patch, const TuningAuthor& author = {});

    // Back to the configuration, whatever was saved
    TuningOutcome Reset(const TuningAuthor& author = {});

    // The latest changes at "since" or later, the oldest first
    std::vector<TuningChange> GetChanges(std::chrono::system_clock::time_point since) const;

    // In force; never null
    std::shared_ptr<const Tuning> Get() const;

    // The changes made over REST, in canonical form; an empty object if there are none
    Json::Value GetOverrides() const;

  private:
    // These expect changeMutex_ to be held. LoadOnce throws std::runtime_error if it cannot.
    void LoadOnce(std::vector<std::string>& warnings);
    std::shared_ptr<const Tuning> Change(const Json::Value& overrides, const TuningAuthor& author);
    void Note(const Tuning& before, const Tuning& after, const TuningAuthor& author);
    void PutInForce(const Json::Value& overrides);

    // This one expects no mutex to be held
    void SaveOverrides(std::vector<std::string>& warnings);

    const Tuning configured_;
    const std::optional<TuningPersistence> persistence_;
    const TuningObserver observer_;
    const TuningCheck check_;
    const Log log_;
    const WallNow now_;

    std::mutex saveMutex_;                 // held while one is saved, taken before changeMutex_
    std::mutex changeMutex_;               // held during a whole change, taken before stateMutex_
    std::atomic<bool> isLoaded_ = false;   // written under changeMutex_
    std::atomic<bool> isUnsaved_ = false;  // likewise

    mutable std::mutex stateMutex_;  // held for a copy only
    std::deque<TuningChange> changes_;
    Json::Value overrides_;
    std::shared_ptr<const Tuning> tuning_;
  };
}
