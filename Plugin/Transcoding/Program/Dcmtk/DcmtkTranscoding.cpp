// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/DcmtkTranscoding.h"

#include "Dicom/ImageDescription.h"
#include "Transcoding/LossySettings.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"
#include "Transcoding/Program/Dcmtk/CodecWarnings.h"
#include "Transcoding/Program/Dcmtk/LossyJpegEncoder.h"
#include "Transcoding/Program/Dcmtk/Obstacles.h"
#include "Transcoding/Program/Dcmtk/PixelDescription.h"

#include <algorithm>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmjpeg/djrplol.h>
#include <dcmtk/dcmjpls/djrparam.h>
#include <memory>
#include <numeric>
#include <utility>
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

    // JPEG Lossless: the one that .70 asks for (ITU-T T.81 table H.1), and a better one
    constexpr int FIRST_ORDER_PREDICTION = 1;
    constexpr int OTHER_PREDICTION = 6;

    bool UsesFragments(E_TransferSyntax xfer)
    {
      return IsEncapsulated(DcmXfer(xfer).getXferID());
    }

    std::string GetName(E_TransferSyntax xfer)
    {
      return DcmXfer(xfer).getXferName();
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

    // Three planes of samples of "width" bytes (DICOM PS3.3 C.7.6.3.1.3)
    void Interleave(const std::uint8_t* planes, std::size_t planeSize, std::size_t width,
                    std::uint8_t* target)
    {
      for (std::size_t i = 0; i < planeSize; i += width)
      {
        for (std::size_t plane = 0; plane < 3; plane++)
        {
          target = std::copy_n(planes + plane * planeSize + i, width, target);
        }
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


  class DcmtkTranscoding::Obstacle
  {
  public:
    Obstacle(TranscodingOutcome outcome, std::string reason) :
      result_({outcome, "", std::move(reason)})
    {
    }

    [[noreturn]] static void Decline(std::string reason)
    {
      throw Obstacle(TranscodingOutcome::Declined, std::move(reason));
    }

    [[noreturn]] static void Fail(std::string reason)
    {
      throw Obstacle(TranscodingOutcome::Failed, std::move(reason));
    }

    static void Check(const OFCondition& condition, const std::string& deed)
    {
      if (condition.bad())
      {
        Fail("DCMTK can't " + deed + ": " + condition.text());
      }
    }

    const EngineResult& GetResult() const
    {
      return result_;
    }

  private:
    EngineResult result_;
  };


  DcmtkTranscoding::DcmtkTranscoding(const TranscodingTarget& target) :
    target_(DcmXfer(target.transferSyntax.c_str()).getXfer()),
    quality_(std::clamp(target.lossyQuality, 1u, 100u))
  {
  }


  EngineResult DcmtkTranscoding::Run(const void* data, std::size_t size)
  {
    try
    {
      if (!CanEncode(target_))
      {
        Obstacle::Decline("DCMTK does not write this transfer syntax");
      }

      Read(data, size);
      Convert();
      return EngineResult::MakeTranscoded(Write());
    }
    catch (const Obstacle& obstacle)
    {
      return obstacle.GetResult();
    }
  }


  void DcmtkTranscoding::Read(const void* data, std::size_t size)
  {
    Obstacle::Check(ReadFile(file_, data, size), "read the file");
    source_ = file_.getDataset()->getOriginalXfer();

    if (source_ != target_ && !CanDecode(source_))
    {
      Obstacle::Decline("DCMTK does not decode " + GetName(source_));
    }
  }


  void DcmtkTranscoding::Convert()
  {
    if (source_ == target_)
    {
      return;
    }

    DcmDataset& dataset = *file_.getDataset();
    DcmPixelData* const pixels = FindPixelData(dataset);

    if (pixels == nullptr && UsesFragments(target_))
    {
      Obstacle::Decline("there is no pixel data that DCMTK could compress");
    }

    DecodeNested();

    if (pixels != nullptr)
    {
      ConvertPixels(*pixels);
    }
  }


  // Icons (DICOM PS3.3 C.7.6.1.1.6) become native, which they may be in every transfer syntax
  void DcmtkTranscoding::DecodeNested()
  {
    if (!UsesFragments(source_))
    {
      return;
    }

    DcmDataset& dataset = *file_.getDataset();
    DcmStack stack;

    while (dataset.search(DCM_PixelData, stack, ESM_afterStackTop, OFTrue).good())
    {
      auto* const pixels = dynamic_cast<DcmPixelData*>(stack.top());
      auto* const item = dynamic_cast<DcmItem*>(stack.elem(1));

      if (pixels != nullptr && item != nullptr && item != &dataset &&
          !pixels->hasRepresentation(EXS_LittleEndianExplicit))
      {
        // A second one could be another frame, which would be left out
        if (GetFragments(*pixels).size() > 1)
        {
          Obstacle::Decline("the pixel data of an icon has several fragments");
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

    if (UsesFragments(source_))
    {
      Decode(dataset, pixels);
    }

    const std::optional<PixelDescription> image = PixelDescription::Read(dataset);

    if (source_ == EXS_BigEndianExplicit && image && image->bitsAllocated > 16)
    {
      // "OW" are words of 16 bits to DCMTK: it leaves their order as it is
      Obstacle::Decline("DCMTK does not turn big endian samples of " +
                        std::to_string(image->bitsAllocated) + " bits");
    }

    if (UsesFragments(target_))
    {

      if (!image)
      {
        Obstacle::Fail("the description of the pixel data is incomplete");
      }

      Encode(*image, pixels);
    }
  }


  void DcmtkTranscoding::Decode(DcmItem& item, DcmPixelData& pixels)
  {
    const std::optional<PixelDescription> image = PixelDescription::Read(item);

    if (!image)
    {
      Obstacle::Fail("the description of the pixel data is incomplete");
    }

    const std::vector<DcmPixelItem*> fragments = GetFragments(pixels);
    const std::uint64_t bytes = CountBytes(fragments);
    const std::uint64_t size = image->GetSize();

    if (fragments.size() < image->frames)
    {
      Obstacle::Fail("there are " + std::to_string(image->frames) + " frames, but " +
                     std::to_string(fragments.size()) + " fragments");
    }

    if (size > LARGEST_SIZE || size > ALWAYS_ALLOWED_SIZE + LARGEST_RATIO * bytes)
    {
      Obstacle::Fail(std::to_string(bytes) + " bytes can't be the " + std::to_string(size) +
                     " bytes that are described");
    }

    CodecWarnings::Forget();
    Choose(EXS_LittleEndianExplicit, nullptr, item, pixels, "decode the pixel data");

    if (!CodecWarnings::GetDamage().empty())
    {
      Obstacle::Fail("the pixel data is damaged: " + CodecWarnings::GetDamage());
    }
  }


  void DcmtkTranscoding::Encode(PixelDescription image, DcmPixelData& pixels)
  {
    const std::string obstacle = FindObstacle(target_, image);

    if (!obstacle.empty())
    {
      Obstacle::Decline(obstacle);
    }

    if (image.GetSize() > pixels.getLength())
    {
      Obstacle::Fail("there are " + std::to_string(pixels.getLength()) + " bytes of pixel data, " +
                     std::to_string(image.GetSize()) + " are described");
    }

    const int error = GetNearLosslessError(quality_);

    if (target_ == EXS_JPEGProcess1 || target_ == EXS_JPEGProcess2_4 ||
        (target_ == EXS_JPEGLSLossy && error > 0))
    {
      CheckStoredBits(image, pixels);
    }

    if (target_ != EXS_RLELossless)
    {
      MakeInterleaved(image, pixels);
    }

    DcmDataset& dataset = *file_.getDataset();

    switch (target_)
    {
      case EXS_JPEGProcess1:
      case EXS_JPEGProcess2_4:
        Obstacle::Check(LossyJpegEncoder(target_, image, quality_).Encode(dataset, pixels),
                        "encode the pixel data");
        break;

      case EXS_JPEGProcess14:
        EncodeLossless(DJ_RPLossless(OTHER_PREDICTION), pixels);
        break;

      case EXS_JPEGProcess14SV1:
        EncodeLossless(DJ_RPLossless(FIRST_ORDER_PREDICTION), pixels);
        break;

      case EXS_JPEGLSLossy:
      {
        // ITU-T T.87 section C.2.3: not more than half of the range
        const int range = (1 << image.bitsStored) - 1;
        const DJLSRepresentationParameter parameters(std::min(error, range / 2), error == 0);
        Choose(target_, &parameters, dataset, pixels, "encode the pixel data");
        ClearPadding(GetFragments(pixels));
        break;
      }

      default:
        Choose(target_, nullptr, dataset, pixels, "encode the pixel data");
        break;
    }
  }


  void DcmtkTranscoding::CheckStoredBits(const PixelDescription& image, DcmPixelData& pixels)
  {
    Uint8* data = nullptr;
    Obstacle::Check(pixels.getUint8Array(data), "read the pixel data");
    const std::string obstacle = FindLossyObstacle(image, data);

    if (!obstacle.empty())
    {
      Obstacle::Decline(obstacle);
    }
  }


  // All but RLE is written by pixel. DCMTK's own way takes all frames for one.
  void DcmtkTranscoding::MakeInterleaved(PixelDescription& image, DcmPixelData& pixels)
  {
    if (image.samplesPerPixel != 3 || image.planarConfiguration == 0)
    {
      return;
    }

    Uint8* data = nullptr;
    Obstacle::Check(pixels.getUint8Array(data), "read the pixel data");

    const std::vector<std::uint8_t> planes(data, data + image.GetSize());
    const std::size_t width = image.bitsAllocated / 8;
    const std::size_t frameSize = image.GetSize() / image.frames;

    for (std::size_t frame = 0; frame < planes.size(); frame += frameSize)
    {
      Interleave(planes.data() + frame, frameSize / 3, width, data + frame);
    }

    image.planarConfiguration = 0;
    file_.getDataset()->putAndInsertUint16(DCM_PlanarConfiguration, 0);
  }


  // DCMTK notes lossless JPEG in the Derivation Description. Nothing was derived.
  void DcmtkTranscoding::EncodeLossless(const DcmRepresentationParameter& parameters,
                                        DcmPixelData& pixels)
  {
    DcmDataset& dataset = *file_.getDataset();
    DcmElement* description = nullptr;
    dataset.findAndGetElement(DCM_DerivationDescription, description);
    std::unique_ptr<DcmObject> kept(description == nullptr ? nullptr : description->clone());

    Choose(target_, &parameters, dataset, pixels, "encode the pixel data");

    dataset.findAndDeleteElement(DCM_DerivationDescription);

    if (kept != nullptr)
    {
      Obstacle::Check(dataset.insert(dynamic_cast<DcmElement*>(kept.get())), "keep an element");
      static_cast<void>(kept.release());
    }
  }


  void DcmtkTranscoding::Choose(E_TransferSyntax xfer, const DcmRepresentationParameter* parameters,
                                DcmItem& item, DcmPixelData& pixels, const char* deed)
  {
    DcmStack stack;
    stack.push(&item);
    stack.push(&pixels);
    Obstacle::Check(pixels.chooseRepresentation(xfer, parameters, stack), deed);
    pixels.removeAllButCurrentRepresentations();
  }


  std::string DcmtkTranscoding::Write()
  {
    std::string bytes;
    Obstacle::Check(WriteFile(bytes, file_, target_), "write the file");
    return bytes;
  }
}
