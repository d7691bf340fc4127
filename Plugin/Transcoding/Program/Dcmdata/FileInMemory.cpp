// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include "Dicom/CodecError.h"
#include "Dicom/ReceivedFile.h"
#include "Transcoding/Program/Dcmdata/ValueSigns.h"

#include <dcmtk/dcmdata/dcistrmb.h>
#include <dcmtk/dcmdata/dcostrmb.h>

namespace OrthancPerf
{
  namespace
  {
    // By its length, it may hold elements of other groups. DCMTK would write them as a part of it
    // that none of its readers takes for one: nobody could inflate what follows. And of an element
    // that goes beyond the file's end, it keeps the length without the value, whether it reads on
    // (where there is no memory of that length) or not.
    void CheckMetaInformation(DcmMetaInfo& information, std::size_t size)
    {
      constexpr Uint16 GROUP = 0x0002;  // DICOM PS3.10 section 7.1

      for (unsigned long i = 0; i < information.card(); i++)
      {
        DcmElement& element = *information.getElement(i);

        if (element.getGTag() != GROUP)
        {
          throw CodecError("the File Meta Information has elements of another group");
        }

        if (element.getLength() > size)
        {
          throw CodecError("the File Meta Information goes beyond the end of the file");
        }
      }
    }

    // Else dcmdata would take blanks out of UIDs as it writes them. It needs its corrections to
    // read values of an odd length.
    class AsRead
    {
    public:
      AsRead()
      {
        dcmEnableAutomaticInputDataCorrection.set(OFFalse);
      }

      ~AsRead()
      {
        dcmEnableAutomaticInputDataCorrection.set(OFTrue);
      }

      AsRead(const AsRead&) = delete;
      AsRead& operator=(const AsRead&) = delete;
    };

    std::string Write(DcmFileFormat& file, E_TransferSyntax syntax)
    {
      // Elements of the File Meta Information may come, and what deflate can't compress grows
      constexpr std::size_t ROOM = 65536;
      const AsRead asRead;
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
      DcmInputBufferStream stream;
      stream.setBuffer(bytes.data(), static_cast<offile_off_t>(bytes.size()));
      stream.setEos();

      file.transferInit();
      const OFCondition condition = file.read(stream);
      CheckMetaInformation(*file.getMetaInfo(), bytes.size());  // it says more than the condition
      CheckDone(condition, "read the file");
      file.transferEnd();
    }

    // The file as a whole
    std::string WriteFile(DcmFileFormat& file, E_TransferSyntax syntax)
    {
      std::string bytes = Write(file, syntax);

      // A deflated data set ends at an even place (DICOM PS3.5 section A.5): with a zero, if need
      // be
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
    SetSigns(*dicom.getDataset());
    return WriteFile(dicom, DcmXfer(transferSyntax).getXfer());
  }


  bool IsReadable(const TransferSyntax* syntax) noexcept
  {
    return syntax != nullptr && (syntax->codestream != CodestreamKind::None || syntax->isWritable ||
                                 syntax->coding == DataSetCoding::ExplicitBigEndian);
  }

}
