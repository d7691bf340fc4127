// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/TuningProperty.h"

namespace OrthancPerf
{
  namespace
  {
    // Plugins choose a number of 1024 or more (OrthancPluginSetGlobalProperty)
    constexpr std::int32_t PROPERTY = 27042;
  }


  TuningProperty::TuningProperty(const Orthanc& orthanc) : orthanc_(orthanc)
  {
  }


  std::optional<std::string> TuningProperty::Load()
  {
    return orthanc_.GetGlobalProperty(PROPERTY);
  }


  void TuningProperty::Save(const std::string& text)
  {
    orthanc_.SetGlobalProperty(PROPERTY, text);
  }


  void TuningProperty::Clear()
  {
    // A property cannot be removed; an empty text stands for "never set"
    orthanc_.SetGlobalProperty(PROPERTY, "");
  }
}
