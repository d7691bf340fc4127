// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/DcmtkTranscoding.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/RleFrame.h"
#include "Transcoding/LossySettings.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"
#include "Transcoding/Program/Dcmtk/CodecWarnings.h"
#include "Transcoding/Program/Dcmtk/LossyJpeg.h"
#include "Transcoding/Program/Dcmtk/Obstacles.h"

#include <algorithm>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmjpeg/djrplol.h>
#include <dcmtk/dcmjpls/djrparam.h>
#include <memory>
#include <numeric>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // What decoded pixels may take: DCMTK counts in 32 bits, and a few bytes are not to make it
    // set gigabytes aside. Blank images compress well, but hardly a thousand times.
    constexpr std::uint64_t LARGEST_SIZE = 0xfffffffe;
    constexpr std::uint64_t ALWAYS_ALLOWED_SIZE = std::uint64_t(64) << 20;
    constexpr std::uint64_t LARGEST_RATIO = 1024;

    constexpr const char* ENCODING = "encode the pixel data";

    // JPEG Lossless: the one that .70 asks for (ITU-T T.81 table H.1), and a better one
    constexpr int FIRST_ORDER_PREDICTION = 1;
    constexpr int OTHER_PREDICTION = 6;

    const TransferSyntax* FindSyntax(E_TransferSyntax xfer)
    {
      return FindTransferSyntax(DcmXfer(xfer).getXferID());
    }

    DcmPixelData* FindPixelData(DcmItem& item)
    {
      DcmElement* element = nullptr;
      return item.findAndGetElement(DCM_PixelData, element).good()
                 ? dynamic_cast<DcmPixelData*>(element)
                 : nullptr;
    }

    // What follows the offset table: frames, or parts of them
    std::vector<DcmPixelItem*> GetFragments(DcmPixelData& pixels)
    {
      E_TransferSyntax xfer = EXS_Unknown;
      const DcmRepresentationParameter* parameters = nullptr;
      DcmPixelSequence* sequence = nullptr;
      std::vector<DcmPixelItem*> fragments;
      pixels.getCurrentRepresentationKey(xfer, parameters);

      if (pixels.getEncapsulatedRepresentation(xfer, parameters, sequence).good())
      {
        for (unsigned long i = 1; i < sequence->card(); i++)
        {
          DcmPixelItem* fragment = nullptr;
          sequence->getItem(fragment, i);
          fragments.push_back(fragment);
        }
      }

      return fragments;
    }

    std::uint64_t CountBytes(const std::vector<DcmPixelItem*>& fragments)
    {
      return std::accumulate(fragments.begin(), fragments.end(), std::uint64_t(0),
                             [](std::uint64_t sum, DcmPixelItem* fragment)
                             { return sum + fragment->getLength(); });
    }

    // Of a fragment; nothing if DCMTK has none
    std::string_view GetFrame(DcmPixelItem& fragment)
    {
      Uint8* bytes = nullptr;
      CheckDone(fragment.getUint8Array(bytes), "read the pixel data");
      return {reinterpret_cast<const char*>(bytes), bytes == nullptr ? 0 : fragment.getLength()};
    }

    // The plugin reads the header of each frame of an image before an engine gets it, but no icon's
    void CheckIcon(const PixelDescription& icon, CodestreamKind kind, DcmPixelItem& fragment)
    {
      const CodestreamHeader header = ReadCodestreamHeader(kind, GetFrame(fragment));

      if (header.width != icon.columns || header.height != icon.rows ||
          header.components != icon.samples || header.precision > icon.bitsAllocated)
      {
        throw NotCovered("the pixel data of an icon is not what its item says");
      }
    }

    // Not by DCMTK (up to 3.6.9 at least): it takes a no-operation (DICOM PS3.5 section G.3.2) for
    // a run, and fills up a segment that is too short
    std::string DecodeRle(const PixelDescription& image, const std::vector<DcmPixelItem*>& frames)
    {
      if (image.bitsAllocated % 8 != 0 || frames.size() != image.frames)
      {
        throw CodecError("RLE has whole bytes only, and a fragment for each frame");
      }

      std::string decoded;

      for (DcmPixelItem* const frame : frames)
      {
        decoded += DecodeRleFrame(GetFrame(*frame), image.rows * image.columns, image.samples,
                                  image.GetSampleSize());
      }

      return decoded;
    }

    // By pixel, instead of what is there
    void PutNative(DcmItem& item, DcmPixelData& pixels, const PixelDescription& image,
                   std::string native)
    {
      native.append(native.size() % 2, '\0');
      pixels.setVR(image.bitsAllocated > 8 ? EVR_OW : EVR_OB);
      const auto* const bytes = reinterpret_cast<const Uint8*>(native.data());
      CheckDone(
          image.bitsAllocated > 8
              ? pixels.putUint16Array(reinterpret_cast<const Uint16*>(bytes), native.size() / 2)
              : pixels.putUint8Array(bytes, native.size()),
          "keep the pixel data");

      if (image.samples > 1)
      {
        CheckDone(item.putAndInsertUint16(DCM_PlanarConfiguration, 0), "describe the samples");
      }
    }

    // Of native pixel data, in the order of this machine
    Uint8* GetBytes(DcmPixelData& pixels)
    {
      Uint8* data = nullptr;
      CheckDone(pixels.getUint8Array(data), "read the pixel data");
      return data;
    }

    // DCMTK's own way takes all frames for one
    void Interleave(const PixelDescription& image, Uint8* data)
    {
      const std::size_t size = image.GetFrameSize();

      for (std::size_t i = 0; i < image.frames; i++)
      {
        auto* const frame = reinterpret_cast<char*>(data) + i * size;
        InterleavePlanes({frame, size}, image).copy(frame, size);
      }
    }

    // DCMTK leaves the padding of near-lossless frames to chance (compressCookedFrame)
    void ClearPadding(const std::vector<DcmPixelItem*>& frames)
    {
      for (DcmPixelItem* frame : frames)
      {
        Uint8* bytes = nullptr;
        const Uint32 size = frame->getLength();

        // The end of an image (ITU-T T.87 annex C), and one byte more
        if (frame->getUint8Array(bytes).good() && bytes != nullptr && size > 3 &&
            bytes[size - 3] == 0xff && bytes[size - 2] == 0xd9)
        {
          bytes[size - 1] = 0;
        }
      }
    }
  }


  DcmtkTranscoding::DcmtkTranscoding(const TranscodingTarget& target) :
    target_(FindTransferSyntax(target.transferSyntax)),
    xfer_(DcmXfer(target.transferSyntax.c_str()).getXfer()),
    quality_(std::clamp(target.lossyQuality, 1u, 100u))
  {
    if (!CanEncode(target_))
    {
      throw NotCovered("DCMTK does not write this transfer syntax");
    }
  }


  std::string DcmtkTranscoding::Run(std::string_view file)
  {
    ReadFile(file_, file);
    const E_TransferSyntax xfer = file_.getDataset()->getOriginalXfer();
    source_ = FindSyntax(xfer);

    if (source_ != target_)
    {
      if (!CanDecode(source_))
      {
        throw NotCovered(std::string("DCMTK does not decode ") + DcmXfer(xfer).getXferName());
      }

      Convert();
    }

    return WriteFile(file_, xfer_);
  }


  void DcmtkTranscoding::Convert()
  {
    DcmPixelData* const pixels = FindPixelData(*file_.getDataset());

    if (pixels == nullptr && target_->isEncapsulated)
    {
      throw NotCovered("there is no pixel data that DCMTK could compress");
    }

    if (source_->isEncapsulated)
    {
      DecodeNested();
    }

    if (pixels != nullptr)
    {
      ConvertPixels(*pixels);
    }
  }


  // Icons (DICOM PS3.3 C.7.6.1.1.6) become native, which they may be in every transfer syntax
  void DcmtkTranscoding::DecodeNested()
  {
    DcmDataset& dataset = *file_.getDataset();
    DcmStack stack;

    while (dataset.search(DCM_PixelData, stack, ESM_afterStackTop, OFTrue).good())
    {
      auto* const pixels = dynamic_cast<DcmPixelData*>(stack.top());
      auto* const item = dynamic_cast<DcmItem*>(stack.elem(1));

      if (pixels != nullptr && item != nullptr && item != &dataset &&
          !pixels->hasRepresentation(EXS_LittleEndianExplicit))
      {
        const std::vector<DcmPixelItem*> fragments = GetFragments(*pixels);

        // A second one could be another frame, which would be left out
        if (fragments.size() > 1)
        {
          throw NotCovered("the pixel data of an icon has several fragments");
        }

        if (!fragments.empty() && source_->codestream != CodestreamKind::Rle)
        {
          CheckIcon(PixelDescription::Read(*item), source_->codestream, *fragments.front());
        }

        Decode(*item, *pixels);
      }
    }
  }


  void DcmtkTranscoding::ConvertPixels(DcmPixelData& pixels)
  {
    DcmDataset& dataset = *file_.getDataset();

    // Extended Offset Table and its lengths (DICOM PS3.3 C.7.6.3.1.8): of the fragments that come
    dataset.findAndDeleteElement(DcmTagKey(0x7fe0, 0x0001));
    dataset.findAndDeleteElement(DcmTagKey(0x7fe0, 0x0002));

    if (source_->isEncapsulated)
    {
      Decode(dataset, pixels);
    }

    Uint16 bitsAllocated = 0;
    dataset.findAndGetUint16(DCM_BitsAllocated, bitsAllocated);

    if (source_->coding == DataSetCoding::ExplicitBigEndian && bitsAllocated > 16)
    {
      // "OW" are words of 16 bits to DCMTK: it leaves their order as it is
      throw NotCovered("DCMTK does not turn big endian samples of " +
                       std::to_string(bitsAllocated) + " bits");
    }

    if (target_->isEncapsulated)
    {
      Encode(PixelDescription::Read(dataset), pixels);
    }
  }


  void DcmtkTranscoding::Decode(DcmItem& item, DcmPixelData& pixels)
  {
    const PixelDescription image = PixelDescription::Read(item);
    const std::vector<DcmPixelItem*> fragments = GetFragments(pixels);
    const std::uint64_t bytes = CountBytes(fragments);
    const std::uint64_t size = image.GetSize();

    if (fragments.size() < image.frames)
    {
      throw CodecError("there are " + std::to_string(image.frames) + " frames, but " +
                       std::to_string(fragments.size()) + " fragments");
    }

    if (size > LARGEST_SIZE || size > ALWAYS_ALLOWED_SIZE + LARGEST_RATIO * bytes)
    {
      throw CodecError(std::to_string(bytes) + " bytes can't be the " + std::to_string(size) +
                       " bytes that are described");
    }

    if (source_->codestream == CodestreamKind::Rle)
    {
      PutNative(item, pixels, image, DecodeRle(image, fragments));
      return;
    }

    CodecWarnings::Forget();
    Choose(EXS_LittleEndianExplicit, nullptr, item, pixels, "decode the pixel data");

    if (!CodecWarnings::GetDamage().empty())
    {
      throw CodecError("the pixel data is damaged: " + CodecWarnings::GetDamage());
    }
  }


  void DcmtkTranscoding::Encode(PixelDescription image, DcmPixelData& pixels)
  {
    CheckImage(*target_, image);

    if (image.GetSize() > pixels.getLength())
    {
      throw CodecError("there are " + std::to_string(pixels.getLength()) +
                       " bytes of pixel data, " + std::to_string(image.GetSize()) +
                       " are described");
    }

    CheckDimensions(*target_, image);
    const int error = GetNearLosslessError(quality_);
    DcmDataset& dataset = *file_.getDataset();

    if (target_->isLossy && (target_->codestream == CodestreamKind::Jpeg || error > 0))
    {
      CheckStoredBits(image, GetBytes(pixels));
    }

    // RLE, too, which has planes whatever it says (DICOM PS3.5 section G.2): Orthanc up to 1.11.2
    // decodes Planar Configuration 1 to false colours
    if (image.planarConfiguration == 1)
    {
      Interleave(image, GetBytes(pixels));
      CheckDone(dataset.putAndInsertUint16(DCM_PlanarConfiguration, 0), "interleave the samples");
    }

    switch (xfer_)
    {
      case EXS_JPEGProcess1:
      case EXS_JPEGProcess2_4:
        EncodeLossyJpeg(dataset, pixels, image, xfer_, quality_);
        break;

      // DCMTK notes lossless JPEG there, though nothing was derived
      case EXS_JPEGProcess14:
        EncodeAndKeep(DCM_DerivationDescription, DJ_RPLossless(OTHER_PREDICTION), pixels);
        break;

      case EXS_JPEGProcess14SV1:
        EncodeAndKeep(DCM_DerivationDescription, DJ_RPLossless(FIRST_ORDER_PREDICTION), pixels);
        break;

      case EXS_JPEGLSLossy:
      {
        // ITU-T T.87 section C.2.3: not more than half of the range
        const int range = (1 << image.bitsStored) - 1;
        const DJLSRepresentationParameter parameters(std::min(error, range / 2), error == 0);
        EncodeAndKeep(DCM_DerivationCodeSequence, parameters, pixels);  // DCMTK replaces it
        ClearPadding(GetFragments(pixels));
        break;
      }

      default:
        Choose(xfer_, nullptr, dataset, pixels, ENCODING);
        break;
    }
  }


  // The element stays what it was, or absent
  void DcmtkTranscoding::EncodeAndKeep(const DcmTagKey& tag,
                                       const DcmRepresentationParameter& parameters,
                                       DcmPixelData& pixels)
  {
    DcmDataset& dataset = *file_.getDataset();
    DcmElement* element = nullptr;
    dataset.findAndGetElement(tag, element);
    std::unique_ptr<DcmObject> kept(element == nullptr ? nullptr : element->clone());

    Choose(xfer_, &parameters, dataset, pixels, ENCODING);

    dataset.findAndDeleteElement(tag);

    if (kept != nullptr)
    {
      CheckDone(dataset.insert(dynamic_cast<DcmElement*>(kept.get())), "keep an element");
      static_cast<void>(kept.release());
    }
  }


  void DcmtkTranscoding::Choose(E_TransferSyntax xfer, const DcmRepresentationParameter* parameters,
                                DcmItem& item, DcmPixelData& pixels, const char* deed)
  {
    DcmStack stack;
    stack.push(&item);
    stack.push(&pixels);
    CheckDone(pixels.chooseRepresentation(xfer, parameters, stack), deed);
    pixels.removeAllButCurrentRepresentations();
  }
}
