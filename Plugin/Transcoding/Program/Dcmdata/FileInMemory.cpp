// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include "Dicom/CodecError.h"
#include "Dicom/ReceivedFile.h"

#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dcostrmb.h>

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
    //
    // Implicit VR does not say whether a value of VR "US or SS" has a sign: Pixel Representation
    // does (DICOM PS3.3 sections C.7.5.1.1.2, C.7.6.3.1.5, C.7.6.16.2.11, C.11.1.1.1), that of the
    // item or, if it has none, of what it is in. DCMTK (up to 3.6.9 at least) asks the same item
    // alone, and not at all about palettes and Mapped Pixel Value. What it does not know, "xs" to
    // it, it would write as unsigned.
    //
    // Gives them the VR that they have in Explicit VR, once a data set was read. Their bits stay.
    // Without any Pixel Representation they stay unsigned. A VOI LUT may be about other values than
    // those of pixels (section C.11.2.1.1): throws NotCovered where its first value could be read
    // either way. Throws CodecError if DCMTK can't do it. Any thread, one a data set.
    void SetSigns(DcmItem& item, const DcmTagKey& sequence, bool isSigned)
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
              SetSigns(*nestedItem, nested->getTag(), isNestedSigned);
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

    std::string Write(DcmFileFormat& file, E_TransferSyntax syntax)
    {
      // Elements of the File Meta Information may come, and what deflate can't compress grows
      constexpr std::size_t ROOM = 65536;
      // Else dcmdata would take blanks out of UIDs as it writes them
      dcmEnableAutomaticInputDataCorrection.set(OFFalse);
      const std::size_t length = file.calcElementLength(syntax, EET_ExplicitLength);
      std::string bytes(length + length / 1024 + ROOM, '\0');
      DcmOutputBufferStream stream(bytes.data(), static_cast<offile_off_t>(bytes.size()));

      file.transferInit();
      CheckDone(file.write(stream, syntax, EET_ExplicitLength, nullptr, EGL_recalcGL, EPD_noChange,
                           0, 0, 0, EWM_fileformat),
                "write the file");
      file.transferEnd();
      stream.flush();  // zlib's rest
      bytes.resize(static_cast<std::size_t>(stream.filled()));
      return bytes;
    }

    void Read(DcmFileFormat& file, std::string_view bytes)
    {
      // Without corrections it reads no values of an odd length
      dcmEnableAutomaticInputDataCorrection.set(OFTrue);
      DcmInputBufferStream stream;
      stream.setBuffer(bytes.data(), static_cast<offile_off_t>(bytes.size()));
      stream.setEos();

      file.transferInit();
      CheckDone(file.read(stream), "read the file");
      file.transferEnd();
    }
  }

  void CheckDone(const OFCondition& condition, const char* deed)
  {
    if (condition.bad())
    {
      throw CodecError(std::string("DCMTK can't ") + deed + ": " + condition.text());
    }
  }

  std::string ConvertFile(std::string_view file, const char* transferSyntax)
  {
    // Without it all elements of implicit VR would become "UN"
    if (!dcmDataDict.isDictionaryLoaded())
    {
      throw NotCovered("DCMTK does not find its data dictionary");
    }

    DcmFileFormat dicom;
    Read(dicom, file);
    SetSigns(*dicom.getDataset(), DcmTagKey(), false);
    const E_TransferSyntax syntax = DcmXfer(transferSyntax).getXfer();
    std::string bytes = Write(dicom, syntax);

    // A deflated data set ends at an even place (DICOM PS3.5 section A.5): with a zero, if need be
    bytes.resize(bytes.size() + bytes.size() % 2);
    ClearTiffPreamble(bytes);

    // An element that had a wrong VR is what the dictionary says now: a sequence, say, without
    // items
    if (syntax == EXS_LittleEndianImplicit)
    {
      DcmFileFormat again;
      Read(again, bytes);
    }

    return bytes;
  }
}
