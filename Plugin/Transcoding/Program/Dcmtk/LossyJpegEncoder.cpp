// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/LossyJpegEncoder.h"

#include <cstddef>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmjpeg/djeijg12.h>
#include <dcmtk/dcmjpeg/djeijg8.h>
#include <dcmtk/dcmjpeg/djrploss.h>

namespace OrthancPerf
{
  namespace
  {
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
      return image.samplesPerPixel == 1              ? EPI_Monochrome2
             : image.photometric == Photometric::Rgb ? EPI_RGB
                                                     : EPI_YBR_Full;
    }
  }


  LossyJpegEncoder::LossyJpegEncoder(E_TransferSyntax xfer, const PixelDescription& image,
                                     unsigned int quality) :
    xfer_(xfer),
    image_(image),
    parameters_(MakeParameters()),
    encoder_(MakeEncoder(xfer, image, parameters_, static_cast<Uint8>(quality)))
  {
  }


  LossyJpegEncoder::~LossyJpegEncoder() = default;


  OFCondition LossyJpegEncoder::Encode(DcmItem& item, DcmPixelData& pixels)
  {
    Uint8* data = nullptr;
    OFCondition result = pixels.getUint8Array(data);

    if (result.bad() || data == nullptr)
    {
      return result.bad() ? result : EC_CorruptedData;
    }

    // The sequence begins with the offset table (DICOM PS3.5 A.4)
    auto sequence = std::make_unique<DcmPixelSequence>(DCM_PixelSequenceTag);
    auto table = std::make_unique<DcmPixelItem>(DCM_PixelItemTag);
    DcmPixelItem& offsetTable = *table;
    sequence->insert(table.release());

    DcmOffsetList offsets;
    result = EncodeFrames(data, *sequence, offsets);

    if (result.good())
    {
      result = offsetTable.createOffsetTable(offsets);
    }

    if (result.good())
    {
      const DJ_RPLossy representation(90);
      pixels.putOriginalRepresentation(xfer_, &representation, sequence.release());
      result = Describe(item);
    }

    return result;
  }


  OFCondition LossyJpegEncoder::EncodeFrames(const std::uint8_t* data, DcmPixelSequence& sequence,
                                             DcmOffsetList& offsets)
  {
    const std::size_t frameSize = image_.GetSize() / image_.frames;

    for (std::uint32_t i = 0; i < image_.frames; i++)
    {
      Uint8* compressed = nullptr;
      Uint32 size = 0;
      OFCondition result = EncodeFrame(data + i * frameSize, compressed, size);
      const std::unique_ptr<Uint8[]> owner(compressed);

      if (result.good())
      {
        result = sequence.storeCompressedFrame(offsets, compressed, size, 0);
      }

      if (result.bad())
      {
        return result;
      }
    }

    return EC_Normal;
  }


  OFCondition LossyJpegEncoder::EncodeFrame(const std::uint8_t* frame, std::uint8_t*& compressed,
                                            std::uint32_t& size)
  {
    const EP_Interpretation model = GetColorModel(image_);

    // The encoder does not write to the frame
    auto* const samples = const_cast<std::uint8_t*>(frame);

    if (image_.bitsAllocated == 8)
    {
      return encoder_->encode(image_.columns, image_.rows, model, image_.samplesPerPixel, samples,
                              compressed, size);
    }

    return encoder_->encode(image_.columns, image_.rows, model, image_.samplesPerPixel,
                            reinterpret_cast<Uint16*>(samples), compressed, size);
  }


  OFCondition LossyJpegEncoder::Describe(DcmItem& item) const
  {
    OFCondition result = EC_Normal;

    if (image_.samplesPerPixel == 3)
    {
      result =
          item.putAndInsertString(DCM_PhotometricInterpretation, ToTerm(Photometric::YbrFull422));
    }

    // JPEG of 12 bits gives back samples of 12 bits, as errors go beyond the range of fewer
    if (image_.bitsAllocated == 16 && result.good())
    {
      result = item.putAndInsertUint16(DCM_BitsStored, 12);
      item.putAndInsertUint16(DCM_HighBit, 11);
    }

    return result;
  }
}
