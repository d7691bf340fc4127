// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Probe.h"

#include "Network/GatheredFile.h"
#include "Network/WatchedFunctions.h"

#include <utility>

namespace OrthancPerf
{
  Probe::Probe(const WatchedPlaces& places, ConnectionTracker& tracker,
               GotPatcher::ModuleFilter filter, const DcmtkEnvironment& environment) :
    environment_(environment),
    tracker_(tracker),
    settings_(std::make_unique<SocketSettings>(
        SocketSettings{GetPresetValues(SocketPreset::Stock).value(), 1})),
    context_{tracker_, admission, settings_.get()},
    patcher_(GetWatchedFunctions(), reinterpret_cast<const void*>(&GetWatchedFunctions),
             std::move(filter))
  {
    tracker_.places = places;
  }

  Probe::~Probe()
  {
    Remove();
  }

  bool Probe::Install()
  {
    std::string problem = "another probe is installed in this process";

    if (isInstalled_ || EnterContext(context_))
    {
      isInstalled_ = true;
      GatheredFile::Stop();  // a failure puts slots back
      patcher_.Refresh();
      problem = patcher_.GetProblem();

      if (problem.empty())
      {
        GatheredFile::Start();
      }
      else
      {
        Remove();  // a half of it would tell half of what happens
      }
    }

    const std::lock_guard<std::mutex> lock(mutex_);
    problem_ = problem;
    return problem.empty();
  }

  bool Probe::Refresh()
  {
    const bool wasInstalled = isInstalled_;

    if (wasInstalled && Install())
    {
      return true;
    }

    const std::lock_guard<std::mutex> lock(mutex_);
    TuneListeningSocket();
    return !wasInstalled;
  }

  void Probe::Remove()
  {
    if (isInstalled_)
    {
      GatheredFile::Stop();  // what is written from now on is not seen
      patcher_.Restore();
      LeaveContext(context_);
      tracker_.table.Clear();  // what is closed from now on is not seen
      admission.Clear();
      isInstalled_ = false;
    }
  }

  std::string Probe::GetProblem() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return problem_;
  }

  std::vector<RedirectionState> Probe::GetStates() const
  {
    return patcher_.GetStates();
  }

  void Probe::SetSettings(const DicomSockets& settings)
  {
    const std::lock_guard<std::mutex> lock(mutex_);

    if (!settings.congestionControl.empty() && formerCongestionControl_.empty())
    {
      formerCongestionControl_ = TrySocketSettings({}).inForce.congestionControl;
    }

    const auto former = std::exchange(settings_, std::make_unique<SocketSettings>(SocketSettings{
                                                     Complete(settings), settings_->revision + 1}));
    context_.settings = settings_.get();
    WaitForHooks();  // until none of them reads the former

    if (!isInstalled_)
    {
      TuneListeningSocket();
    }

    trial_ = TrySocketSettings(settings_->sockets);
  }

  SettingsTrial Probe::GetTrial() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return trial_;
  }

  void Probe::TuneListeningSocket()
  {
    if (const std::optional<int> fd = FindListeningSocket(tracker_.places.dicomPort))
    {
      ApplySocketSettings(*fd, settings_->sockets);
    }
  }

  // What is left to DCMTK is what DCMTK does: a connection may have had another setting before
  DicomSockets Probe::Complete(DicomSockets settings) const
  {
    const SocketBuffer buffer = environment_.bufferLength
                                    ? SocketBuffer::MakeFixed(*environment_.bufferLength)
                                    : SocketBuffer();

    settings.tcpNoDelay = settings.tcpNoDelay || environment_.noDelay;

    // Not before another one was set: a route may have one of its own
    if (settings.congestionControl.empty())
    {
      settings.congestionControl = formerCongestionControl_;
    }

    for (SocketBuffer* setting : {&settings.receiveBuffer, &settings.sendBuffer})
    {
      if (setting->mode == SocketBuffer::Mode::Default)
      {
        *setting = buffer;
      }
    }

    return settings;
  }
}
