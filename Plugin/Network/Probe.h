// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/ConnectionTracker.h"
#include "Network/HookContext.h"
#include "Network/Sockets/SocketTuning.h"
#include "Redirection/GotPatcher.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace OrthancPerf
{
  // Watches the connections and stored files of this process, tunes its DICOM sockets, and holds
  // its senders back while memory is short, from Install() to Remove(). Where it is not installed,
  // it tunes the listening socket, from which accepted sockets inherit. One probe at a time in a
  // process; owned by the plugin's context. Install, Refresh and Remove: one thread; the rest: any.
  class Probe
  {
  public:
    // The tracker outlives the probe. The filter is for tests: which modules are redirected.
    Probe(const WatchedPlaces& places, ConnectionTracker& tracker,
          GotPatcher::ModuleFilter filter = {}, const DcmtkEnvironment& environment = {});

    ~Probe();

    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    // False if not all could be redirected: then the probe is removed, and GetProblem() says why.
    // May be repeated, to reach modules that were loaded since.
    bool Install();

    // Reaches the modules that were loaded since, and the listening socket, once it is there.
    // False: the probe was installed, and has failed and been removed; GetProblem() says why.
    bool Refresh();

    void Remove();

    bool IsInstalled() const noexcept
    {
      return isInstalled_;
    }

    std::string GetProblem() const;

    std::vector<RedirectionState> GetStates() const;

    // In force with the next call on each DICOM connection, also on live ones. What the kernel caps
    // or refuses is in GetTrial().
    void SetSettings(const DicomSockets& settings);

    SettingsTrial GetTrial() const;

    AdmissionQueue admission{ConnectionTable::CAPACITY};

  private:
    DicomSockets Complete(DicomSockets settings) const;
    void TuneListeningSocket();

    const DcmtkEnvironment environment_;
    ConnectionTracker& tracker_;
    std::unique_ptr<const SocketSettings> settings_;  // what the hooks read
    HookContext context_;
    GotPatcher patcher_;
    std::atomic<bool> isInstalled_ = false;

    mutable std::mutex mutex_;  // protects the settings and what follows
    std::string problem_ = "it is switched off by \"SocketProbe\" in section \"Perf\"";
    std::string formerCongestionControl_;  // the system's; empty: it was never changed
    SettingsTrial trial_;
  };
}
