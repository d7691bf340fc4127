// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/DicomTuner.h"

#include "Network/ListeningSocket.h"

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


  void DicomTuner::SetSettings(const SocketSettings& settings)
  {
    const SocketSettings complete = Complete(settings);
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


  void DicomTuner::TuneListeningSocket(const SocketSettings& settings) const
  {
    if (const std::optional<int> fd = FindListeningSocket(dicomPort_))
    {
      ApplySocketSettings(*fd, settings, GetDefaultCongestionControl().c_str());
    }
  }


  // What is left to DCMTK is what DCMTK does: a connection may have had another setting before
  SocketSettings DicomTuner::Complete(SocketSettings settings) const
  {
    const BufferSetting buffer = environment_.bufferLength
                                     ? BufferSetting::Fixed(*environment_.bufferLength)
                                     : BufferSetting::Automatic();

    settings.noDelay = settings.noDelay.value_or(environment_.noDelay);

    for (BufferSetting* setting : {&settings.receiveBuffer, &settings.sendBuffer})
    {
      if (setting->mode == BufferSetting::Mode::Leave)
      {
        *setting = buffer;
      }
    }

    return settings;
  }
}
