// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/DataDictionary.h"

#include <cstdint>
#include <gdcmDictEntry.h>
#include <gdcmDicts.h>
#include <gdcmGlobal.h>

namespace OrthancPerf
{
  namespace
  {
    bool IsPrivate(DicomTag tag)
    {
      return (tag >> 16) % 2 != 0;
    }

    // (gggg,0010-00FF): PS3.5 section 7.8.1
    bool IsPrivateCreator(DicomTag tag)
    {
      const DicomTag element = tag & 0xffff;
      return IsPrivate(tag) && element >= 0x10 && element <= 0xff;
    }

    std::string_view Resolve(gdcm::VR::VRType representation, bool isSigned)
    {
      switch (representation)
      {
        case gdcm::VR::OB_OW:
        case gdcm::VR::US_OW:
        case gdcm::VR::US_SS_OW:
          return "OW";

        case gdcm::VR::US_SS:
          return isSigned ? "SS" : "US";

        default:
          break;
      }

      // The names are constants of GDCM; those of other combinations have more characters
      const std::string_view name = gdcm::VR::GetVRString(representation);
      return name.size() == 2 && name != "??" ? name : "UN";
    }
  }


  std::string_view LookupRepresentation(DicomTag tag, bool isSigned)
  {
    if ((tag & 0xffff) == 0)
    {
      return "UL";
    }

    if (IsPrivate(tag))
    {
      return IsPrivateCreator(tag) ? "LO" : "UN";
    }

    const gdcm::Tag known(static_cast<std::uint16_t>(tag >> 16),
                          static_cast<std::uint16_t>(tag & 0xffff));
    const gdcm::Dict& dictionary = gdcm::Global::GetInstance().GetDicts().GetPublicDict();
    return Resolve(dictionary.GetDictEntry(known).GetVR(), isSigned);
  }
}
