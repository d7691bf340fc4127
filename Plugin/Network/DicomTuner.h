// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/MessageRecorder.h"
#include "Network/Probe.h"
#include "Network/Sockets/DcmtkEnvironment.h"
#include "Network/Sockets/SettingsTrial.h"

#include <memory>
#include <mutex>
#include <string>

namespace OrthancPerf
{
  // Puts socket settings into force on Orthanc's DICOM connections: by the probe on every call of
  // every connection, or, where it is not installed, on the listening socket, from which accepted
  // sockets inherit. Owned by the plugin's context. Install and Refresh: one thread; the rest:
  // any.
  class DicomTuner
  {
  public:
    // The recorder outlives the tuner
    DicomTuner(const WatchedPlaces& places, MessageRecorder& recorder,
               const DcmtkEnvironment& environment);

    // Installs the probe. False: it could not be, GetProblem() says why.
    bool InstallProbe();

    // Reaches the modules that were loaded since, and the listening socket, once it is there.
    // False: the probe was there, and has failed and been removed; GetProblem() says why.
    bool Refresh();

    // In force from now on. What the kernel caps or refuses is in GetTrial().
    void SetSettings(const DicomSockets& settings);

    bool IsProbeInstalled() const;

    // Why the probe is not installed
    std::string GetProblem() const;

    // What the kernel makes of the settings in force
    SettingsTrial GetTrial() const;

    // To these, what begins with TLS is DICOM. One thread at a time.
    void SetOutgoingPorts(const std::vector<std::uint16_t>& ports)
    {
      probe_.SetOutgoingPorts(ports);
    }

    AdmissionQueue& GetAdmission()
    {
      return probe_.GetAdmission();
    }

    const Probe& GetProbe() const
    {
      return probe_;
    }

  private:
    void TuneListeningSocket(const DicomSockets& settings);
    DicomSockets Complete(DicomSockets settings) const;

    const DcmtkEnvironment environment_;
    const std::uint16_t dicomPort_;
    Probe probe_;

    mutable std::mutex mutex_;
    bool isInstalled_ = false;
    std::string problem_ = "it is switched off by \"SocketProbe\" in section \"Perf\"";
    DicomSockets settings_;
    CongestionControlName formerCongestionControl_ = {};  // of the listening socket
    SettingsTrial trial_;
  };
}
