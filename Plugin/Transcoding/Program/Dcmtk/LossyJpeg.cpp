// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/LossyJpeg.h"

#include "Dicom/CodecError.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"

#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmjpeg/djcparam.h>
#include <dcmtk/dcmjpeg/djeijg12.h>
#include <dcmtk/dcmjpeg/djeijg8.h>
#include <dcmtk/dcmjpeg/djrploss.h>
#include <memory>
#include <string>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* DEED = "encode the pixel data";

    // Colour goes to YCbCr with half of the chroma samples a row: YBR_FULL_422 is what DICOM asks
    // for in these transfer syntaxes (PS3.5 section 8.2.1).
    DJCodecParameter MakeParameters()
    {
      return DJCodecParameter(ECC_lossyYCbCr, EDC_never, EUC_never, EPC_colorByPixel, OFFalse,
                              OFFalse, OFFalse, OFTrue /* optimal Huffman tables */, 0, 0, 0,
                              OFTrue, ESS_422, OFTrue);
    }

    std::unique_ptr<DJEncoder> MakeEncoder(E_TransferSyntax xfer, const PixelDescription& image,
                                           const DJCodecParameter& parameters, Uint8 quality)
    {
      const EJ_Mode mode = (xfer == EXS_JPEGProcess1 ? EJM_baseline : EJM_sequential);

      if (image.bitsAllocated == 8)
      {
        return std::make_unique<DJCompressIJG8Bit>(parameters, mode, quality);
      }

      return std::make_unique<DJCompressIJG12Bit>(parameters, mode, quality);
    }

    EP_Interpretation GetColorModel(const PixelDescription& image)
    {
      return image.samples == 1                      ? EPI_Monochrome2
             : image.photometric == Photometric::Rgb ? EPI_RGB
                                                     : EPI_YBR_Full;
    }

    // The caller owns it
    std::unique_ptr<Uint8[]> EncodeFrame(DJEncoder& encoder, const PixelDescription& image,
                                         Uint8* frame, Uint32& size)
    {
      const auto columns = static_cast<Uint16>(image.columns);
      const auto rows = static_cast<Uint16>(image.rows);
      const auto samples = static_cast<Uint16>(image.samples);
      const EP_Interpretation model = GetColorModel(image);
      Uint8* compressed = nullptr;
      const OFCondition result =
          image.bitsAllocated == 8
              ? encoder.encode(columns, rows, model, samples, frame, compressed, size)
              : encoder.encode(columns, rows, model, samples, reinterpret_cast<Uint16*>(frame),
                               compressed, size);
      std::unique_ptr<Uint8[]> owner(compressed);
      CheckDone(result, DEED);
      return owner;
    }

    // Without a window, viewers take all that Bits Stored allows for what is black and white: as 12
    // bits, an image of 8 would be nearly black
    void CheckWindow(DcmItem& item, const PixelDescription& image)
    {
      DcmElement* found = nullptr;

      if (image.bitsAllocated == 16 && image.bitsStored < 12 &&
          item.findAndGetElement(DCM_WindowCenter, found, OFTrue).bad() &&
          item.findAndGetElement(DCM_VOILUTSequence, found, OFTrue).bad())
      {
        throw NotCovered("JPEG of 12 bits would darken an image of " +
                         std::to_string(image.bitsStored) + " without a window");
      }
    }


    void Describe(DcmItem& item, const PixelDescription& image)
    {
      if (image.samples == 3)
      {
        CheckDone(
            item.putAndInsertString(DCM_PhotometricInterpretation, ToTerm(Photometric::YbrFull422)),
            DEED);
      }

      // JPEG of 12 bits gives back samples of 12 bits, as errors go beyond the range of fewer
      if (image.bitsAllocated == 16)
      {
        CheckDone(item.putAndInsertUint16(DCM_BitsStored, 12), DEED);
        CheckDone(item.putAndInsertUint16(DCM_HighBit, 11), DEED);
      }
    }
  }


  void EncodeLossyJpeg(DcmItem& item, DcmPixelData& pixels, const PixelDescription& image,
                       E_TransferSyntax xfer, unsigned int quality)
  {
    CheckWindow(item, image);
    Uint8* data = nullptr;
    CheckDone(pixels.getUint8Array(data), DEED);

    // The sequence begins with the offset table (DICOM PS3.5 A.4)
    auto sequence = std::make_unique<DcmPixelSequence>(DCM_PixelSequenceTag);
    auto* const offsetTable = new DcmPixelItem(DCM_PixelItemTag);
    sequence->insert(offsetTable);

    const DJCodecParameter parameters = MakeParameters();
    const auto encoder = MakeEncoder(xfer, image, parameters, static_cast<Uint8>(quality));
    DcmOffsetList offsets;

    for (std::uint32_t i = 0; i < image.frames; i++)
    {
      Uint32 size = 0;
      const auto frame = EncodeFrame(*encoder, image, data + i * image.GetFrameSize(), size);
      CheckDone(sequence->storeCompressedFrame(offsets, frame.get(), size, 0), DEED);
    }

    CheckDone(offsetTable->createOffsetTable(offsets), DEED);
    const DJ_RPLossy representation(90);
    pixels.putOriginalRepresentation(xfer, &representation, sequence.release());
    Describe(item, image);
  }
}
