// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmdata/ValueSigns.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include <memory>
#include <optional>
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


    class SignSetter
    {
    public:
      explicit SignSetter(DcmDataset& dataset) : dataset_(dataset)
      {
      }

      // "sequence": what the item is in. "isSigned": by the Pixel Representation around it.
      void Set(DcmItem& item, const DcmTagKey& sequence, bool isSigned)
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
            SetNested(*nested, isSigned);
          }
          else if (element != nullptr && element->getTag().getEVR() == EVR_xs)
          {
            unclear.push_back(element);
          }
        }

        for (DcmElement* const element : unclear)
        {
          if (sequence == DCM_VOILUTSequence && IsAmbiguous(*element) && MayChangeSign(isSigned))
          {
            throw NotCovered("a VOI LUT from Implicit VR, whose first value has a sign or not");
          }

          if (isSigned)
          {
            MakeSigned(item, *element);
          }
        }
      }

    private:
      void SetNested(DcmSequenceOfItems& sequence, bool isSigned)
      {
        // Its input never has a sign: DICOM PS3.3 section C.11.4.1
        isSigned = isSigned && sequence.getTag() != DCM_PresentationLUTSequence;

        for (DcmObject* object = sequence.nextInContainer(nullptr); object != nullptr;
             object = sequence.nextInContainer(object))
        {
          if (auto* const item = dynamic_cast<DcmItem*>(object))
          {
            Set(*item, sequence.getTag(), isSigned);
          }
        }
      }

      // Whether modality LUT or rescaling may give samples a sign, or take it, anywhere in the data
      // set
      bool MayChangeSign(bool isSigned)
      {
        if (!mayChangeSign_[isSigned].has_value())
        {
          const bool hasLut = dataset_.tagExists(DCM_ModalityLUTSequence, OFTrue);
          const auto isShift = [isSigned](double intercept)
          {
            return isSigned ? intercept > 0 : intercept < 0;
          };
          const auto isTurn = [](double slope)
          {
            return slope <= 0;
          };
          mayChangeSign_[isSigned] = hasLut || HasNumber(DCM_RescaleIntercept, isShift) ||
                                     HasNumber(DCM_RescaleSlope, isTurn);
        }

        return *mayChangeSign_[isSigned];
      }

      // Whether there is one like that, or one that can't be read
      template <typename Predicate>
      bool HasNumber(const DcmTagKey& tag, Predicate predicate)
      {
        DcmStack stack;

        while (dataset_.search(tag, stack, ESM_afterStackTop, OFTrue).good())
        {
          auto* const element = dynamic_cast<DcmElement*>(stack.top());
          Float64 number = 0;

          if (element == nullptr || element->getFloat64(number).bad() || predicate(number))
          {
            return true;
          }
        }

        return false;
      }

      DcmDataset& dataset_;
      std::optional<bool> mayChangeSign_[2];  // what is unsigned, what is signed
    };
  }


  void SetSigns(DcmDataset& dataset)
  {
    SignSetter(dataset).Set(dataset, DcmTagKey(), false);
  }
}
