// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/ConnectionTracker.h"
#include "Network/HookContext.h"
#include "Network/Sockets/SharedDicomSockets.h"
#include "Redirection/GotPatcher.h"

#include <string>
#include <vector>

namespace OrthancPerf
{
  // Watches the connections and stored files of this process, tunes its DICOM sockets, and holds
  // its senders back while memory is short, from Install() to Remove(). One probe at a time in a
  // process; owned by the plugin's context, which installs, refreshes and removes it on one thread.
  // Settings and connections: any thread.
  class Probe
  {
  public:
    // The recorder outlives the probe. The filter is for tests: which modules are redirected.
    Probe(WatchedPlaces places, MessageRecorder& recorder, GotPatcher::ModuleFilter filter = {});

    // Removes
    ~Probe();

    Probe(const Probe&) = delete;
    Probe& operator=(const Probe&) = delete;

    // False if not all could be redirected: then the probe is removed, and GetProblem() says why.
    // May be repeated, to reach modules that were loaded since.
    bool Install();

    void Remove();

    const std::string& GetProblem() const;

    // The functions that are watched, and through how many slots; none before Install()
    std::vector<RedirectionState> GetStates() const;

    // In force with the next call on each DICOM connection, also on live ones
    void SetSettings(const DicomSockets& settings)
    {
      settings_.Set(settings);
    }

    // To these, what begins with TLS is DICOM. One thread at a time.
    void SetOutgoingPorts(const std::vector<std::uint16_t>& ports)
    {
      tracker_.SetOutgoingPorts(ports);
    }

    AdmissionQueue& GetAdmission()
    {
      return admission_;
    }

    const AdmissionQueue& GetAdmission() const
    {
      return admission_;
    }

  private:
    ConnectionTable& connections_;  // the recorder's
    ConnectionTracker tracker_;
    SharedDicomSockets settings_;
    AdmissionQueue admission_{ConnectionTable::DEFAULT_CAPACITY};
    HookContext context_;
    GotPatcher patcher_;
    std::string problem_;
    bool isEntered_ = false;
  };
}
