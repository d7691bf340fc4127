// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/DicomTuner.h"

#include "Network/Sockets/SocketTuning.h"

namespace OrthancPerf
{
  DicomTuner::DicomTuner(const WatchedPlaces& places, MessageRecorder& recorder,
                         const DcmtkEnvironment& environment) :
    environment_(environment),
    dicomPort_(places.dicomPort),
    probe_(places, recorder)
  {
  }


  bool DicomTuner::InstallProbe()
  {
    const bool isInstalled = probe_.Install();

    const std::lock_guard<std::mutex> lock(mutex_);
    isInstalled_ = isInstalled;
    problem_ = probe_.GetProblem();
    return isInstalled;
  }


  bool DicomTuner::Refresh()
  {
    const bool wasInstalled = IsProbeInstalled();

    if (wasInstalled && InstallProbe())
    {
      return true;
    }

    const std::lock_guard<std::mutex> lock(mutex_);
    TuneListeningSocket(settings_);
    return !wasInstalled;
  }


  void DicomTuner::SetSettings(const DicomSockets& settings)
  {
    const DicomSockets complete = Complete(settings);
    probe_.SetSettings(complete);

    const std::lock_guard<std::mutex> lock(mutex_);
    settings_ = complete;

    if (!isInstalled_)
    {
      TuneListeningSocket(complete);
    }

    trial_ = SettingsTrial::Run(complete);
  }


  bool DicomTuner::IsProbeInstalled() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return isInstalled_;
  }


  std::string DicomTuner::GetProblem() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return problem_;
  }


  SettingsTrial DicomTuner::GetTrial() const
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    return trial_;
  }


  void DicomTuner::TuneListeningSocket(const DicomSockets& settings)
  {
    if (const std::optional<int> fd = FindListeningSocket(dicomPort_))
    {
      ApplySocketSettings(*fd, settings, &formerCongestionControl_);
    }
  }


  // What is left to DCMTK is what DCMTK does: a connection may have had another setting before
  DicomSockets DicomTuner::Complete(DicomSockets settings) const
  {
    const SocketBuffer buffer = environment_.bufferLength
                                    ? SocketBuffer::MakeFixed(*environment_.bufferLength)
                                    : SocketBuffer::MakeAutomatic();

    settings.tcpNoDelay = settings.tcpNoDelay || environment_.noDelay;

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
