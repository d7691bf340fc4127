// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmdata/ValueSigns.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include <memory>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* DEED = "give a value its sign";

    // Whether this is none of the numbers that are the same with a sign and without
    bool IsAmbiguous(DcmElement& element)
    {
      constexpr unsigned long FIRST_MAPPED = 1;  // of a descriptor
      Uint16 value = 0;
      return element.getUint16(value, FIRST_MAPPED).good() && value >= 0x8000;
    }

    // The same bits under another name. All values of a descriptor of a lookup table are of the VR
    // of the second one, and readers know which never have a sign: DICOM PS3.3 section C.11.1.1.1.
    void MakeSigned(DcmItem& item, DcmElement& element)
    {
      auto signedOne = std::make_unique<DcmSignedShort>(DcmTag(element.getTag(), EVR_SS));
      Uint16* values = nullptr;
      CheckDone(element.getUint16Array(values), DEED);

      if (values != nullptr)
      {
        const std::vector<Sint16> numbers(values, values + element.getLength() / sizeof(Uint16));
        CheckDone(signedOne->putSint16Array(numbers.data(), numbers.size()), DEED);
      }

      const std::unique_ptr<DcmElement> old(item.remove(&element));
      CheckDone(item.insert(signedOne.get()), DEED);
      static_cast<void>(signedOne.release());
    }


    // "sequence": what the item is in. "isSigned": by the Pixel Representation around it.
    void SetSignsOfItem(DcmItem& item, const DcmTagKey& sequence, bool isSigned)
    {
      Uint16 representation = 0;
      std::vector<DcmElement*> unclear;

      if (item.findAndGetUint16(DCM_PixelRepresentation, representation).good())
      {
        isSigned = representation == 1;
      }

      for (DcmObject* object = item.nextInContainer(nullptr); object != nullptr;
           object = item.nextInContainer(object))
      {
        auto* const element = dynamic_cast<DcmElement*>(object);

        if (auto* const nested = dynamic_cast<DcmSequenceOfItems*>(object))
        {
          // Its input never has a sign: DICOM PS3.3 section C.11.4.1
          const bool isNestedSigned = isSigned && nested->getTag() != DCM_PresentationLUTSequence;

          for (DcmObject* child = nested->nextInContainer(nullptr); child != nullptr;
               child = nested->nextInContainer(child))
          {
            if (auto* const nestedItem = dynamic_cast<DcmItem*>(child))
            {
              SetSignsOfItem(*nestedItem, nested->getTag(), isNestedSigned);
            }
          }
        }
        else if (element != nullptr && element->getTag().getEVR() == EVR_xs)
        {
          unclear.push_back(element);
        }
      }

      for (DcmElement* const element : unclear)
      {
        if (sequence == DCM_VOILUTSequence && IsAmbiguous(*element))
        {
          throw NotCovered("a VOI LUT from Implicit VR, whose first value has a sign or not");
        }

        if (isSigned)
        {
          MakeSigned(item, *element);
        }
      }
    }
  }


  void SetSigns(DcmDataset& dataset)
  {
    SetSignsOfItem(dataset, DcmTagKey(), false);
  }
}
