// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodecError.h"
#include "Transcoding/Program/Dcmdata/FileInMemory.h"
#include "Transcoding/Program/Frames/FrameCodec.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/dcmdata/dcpixseq.h>
#include <dcmtk/dcmdata/dcpxitem.h>
#include <dcmtk/dcmdata/dctk.h>
#include <dcmtk/dcmjpeg/djcparam.h>
#include <dcmtk/dcmjpeg/djdecode.h>
#include <dcmtk/dcmjpeg/djeijg12.h>
#include <dcmtk/dcmjpeg/djeijg8.h>
#include <dcmtk/dcmjpeg/djencode.h>
#include <dcmtk/dcmjpeg/djrplol.h>
#include <dcmtk/dcmjpls/djdecode.h>
#include <dcmtk/dcmjpls/djencode.h>
#include <dcmtk/oflog/appender.h>
#include <dcmtk/oflog/oflog.h>
#include <dcmtk/oflog/spi/logevent.h>
#include <memory>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* DECODING = "decode the pixel data";
    constexpr const char* ENCODING = "encode the pixel data";

    // DCMTK's JPEG decoders go on after damage with what pixels they have, and only their log tells
    class DamageAppender : public dcmtk::log4cplus::Appender
    {
    public:
      // The first message that speaks of damaged data. There is one log per process.
      static std::string& GetDamage()
      {
        static std::string damage;
        return damage;
      }

      static void Install()
      {
        OFLog::configure(OFLogger::WARN_LOG_LEVEL);
        dcmtk::log4cplus::Logger root = dcmtk::log4cplus::Logger::getRoot();
        root.removeAllAppenders();
        root.addAppender(dcmtk::log4cplus::SharedAppenderPtr(new DamageAppender));
      }

      ~DamageAppender() override
      {
        destructorImpl();
      }

      void close() override
      {
        closed = true;
      }

    protected:
      void append(const dcmtk::log4cplus::spi::InternalLoggingEvent& event) override
      {
        const auto& text = event.getMessage();
        const std::string message(text.data(), text.size());

        // The messages are those of the Independent JPEG Group's library (jerror.h). Extra bytes in
        // front of a marker are what is left of a scan whose codes were misread.
        const bool isDamage = message.find("Premature end of JPEG file") != std::string::npos ||
                              message.find("Corrupt JPEG data") != std::string::npos;

        if (GetDamage().empty() && isDamage)
        {
          GetDamage() = message;
        }
      }
    };

    // A data set that holds one frame and what codecs have to know of it
    class FrameDataSet
    {
    public:
      // By pixel, with one or two bytes a sample
      FrameDataSet(const FrameFormat& format, bool hasTwoBytes, bool isRgb) :
        size_(format.rows * format.columns * format.samples * (hasTwoBytes ? 2 : 1)),
        hasTwoBytes_(hasTwoBytes)
      {
        constexpr std::size_t LARGEST = 0xfffffffe;  // DCMTK counts in 32 bits
        const Uint16 bits = hasTwoBytes ? 16 : 8;

        if (size_ > LARGEST)
        {
          throw NotCovered("a frame is larger than DCMTK can count");
        }

        SetNumber(DCM_Rows, format.rows);
        SetNumber(DCM_Columns, format.columns);
        SetNumber(DCM_SamplesPerPixel, format.samples);
        SetNumber(DCM_BitsAllocated, bits);
        SetNumber(DCM_BitsStored, bits);
        SetNumber(DCM_HighBit, bits - 1u);
        SetNumber(DCM_PixelRepresentation, 0);
        SetNumber(DCM_PlanarConfiguration, 0);
        const char* const colors = format.samples == 1 ? "MONOCHROME2" : isRgb ? "RGB" : "YBR_FULL";
        CheckDone(dataSet_.putAndInsertString(DCM_PhotometricInterpretation, colors), DESCRIBING);

        auto pixels = std::make_unique<DcmPixelData>(DCM_PixelData);
        pixels->setVR(hasTwoBytes ? EVR_OW : EVR_OB);
        pixels_ = pixels.get();
        CheckDone(dataSet_.insert(pixels.get()), DESCRIBING);
        static_cast<void>(pixels.release());
      }

      std::string Decode(E_TransferSyntax xfer, std::string_view frame)
      {
        auto sequence = std::make_unique<DcmPixelSequence>(DCM_PixelSequenceTag);
        sequence->insert(new DcmPixelItem(DCM_PixelItemTag));  // the offset table
        auto* const item = new DcmPixelItem(DCM_PixelItemTag);
        sequence->insert(item);
        CheckDone(item->putUint8Array(reinterpret_cast<const Uint8*>(frame.data()), frame.size()),
                  DECODING);
        pixels_->putOriginalRepresentation(xfer, nullptr, sequence.release());
        Choose(EXS_LittleEndianExplicit, nullptr, DECODING);

        Uint8* samples = nullptr;
        CheckDone(pixels_->getUint8Array(samples), DECODING);

        if (samples == nullptr || pixels_->getLength() < size_)
        {
          throw CodecError("DCMTK decoded a frame to fewer bytes than its image has");
        }

        return {reinterpret_cast<const char*>(samples), size_};
      }

      std::string Encode(E_TransferSyntax xfer, const DcmRepresentationParameter* parameters,
                         std::string_view frame)
      {
        if (frame.size() != size_)
        {
          throw CodecError("A frame has another size than its image says");
        }

        std::string even(frame);
        even.resize(size_ + size_ % 2);
        CheckDone(
            hasTwoBytes_
                ? pixels_->putUint16Array(reinterpret_cast<const Uint16*>(even.data()), size_ / 2)
                : pixels_->putUint8Array(reinterpret_cast<const Uint8*>(even.data()), even.size()),
            ENCODING);
        Choose(xfer, parameters, ENCODING);

        DcmPixelSequence* sequence = nullptr;
        DcmPixelItem* item = nullptr;
        Uint8* codestream = nullptr;
        CheckDone(pixels_->getEncapsulatedRepresentation(xfer, parameters, sequence), ENCODING);

        if (sequence->card() != 2)  // an offset table, and a fragment
        {
          throw CodecError("DCMTK wrote a frame as several fragments");
        }

        CheckDone(sequence->getItem(item, 1), ENCODING);
        CheckDone(item->getUint8Array(codestream), ENCODING);
        return {reinterpret_cast<const char*>(codestream), item->getLength()};
      }

    private:
      static constexpr const char* DESCRIBING = "describe a frame";

      void SetNumber(const DcmTagKey& tag, std::size_t number)
      {
        CheckDone(dataSet_.putAndInsertUint16(tag, static_cast<Uint16>(number)), DESCRIBING);
      }

      void Choose(E_TransferSyntax xfer, const DcmRepresentationParameter* parameters,
                  const char* deed)
      {
        DcmStack stack;
        stack.push(&dataSet_);
        stack.push(pixels_);
        CheckDone(pixels_->chooseRepresentation(xfer, parameters, stack), deed);
      }

      const std::size_t size_;
      const bool hasTwoBytes_;
      DcmDataset dataSet_;
      DcmPixelData* pixels_ = nullptr;  // of the data set
    };

    // By the JPEG library inside DCMTK, which gets the samples as they are: DCMTK's own way from a
    // data set renders them, with window, rescaling, and all. Colour goes to YCbCr with half of the
    // chroma samples a row: YBR_FULL_422 is what DICOM asks for (PS3.5 section 8.2.1).
    std::string EncodeLossyJpeg(const EncodingTask& task, std::string_view frame)
    {
      const DJCodecParameter parameters(
          ECC_lossyYCbCr, EDC_never, EUC_never, EPC_colorByPixel, OFFalse, OFFalse, OFFalse,
          OFTrue /* optimal Huffman tables */, 0, 0, 0, OFTrue, ESS_422, OFTrue);
      const bool isBaseline = std::string_view(task.target.uid) == TransferSyntaxUid::JPEG_BASELINE;
      const EJ_Mode mode = isBaseline ? EJM_baseline : EJM_sequential;
      const auto quality = static_cast<Uint8>(task.quality);
      const auto columns = static_cast<Uint16>(task.format.columns);
      const auto rows = static_cast<Uint16>(task.format.rows);
      const auto samples = static_cast<Uint16>(task.format.samples);
      const EP_Interpretation colors = task.format.samples == 1 ? EPI_Monochrome2
                                       : task.IsRgb()           ? EPI_RGB
                                                                : EPI_YBR_Full;
      std::string source(frame);  // DCMTK asks for one that may be changed
      Uint8* codestream = nullptr;
      Uint32 size = 0;
      OFCondition result;

      if (task.format.bitsAllocated == 8)
      {
        DJCompressIJG8Bit encoder(parameters, mode, quality);
        result = encoder.encode(columns, rows, colors, samples,
                                reinterpret_cast<Uint8*>(source.data()), codestream, size);
      }
      else
      {
        DJCompressIJG12Bit encoder(parameters, mode, quality);
        result = encoder.encode(columns, rows, colors, samples,
                                reinterpret_cast<Uint16*>(source.data()), codestream, size);
      }

      const std::unique_ptr<Uint8[]> owner(codestream);
      CheckDone(result, ENCODING);
      return {reinterpret_cast<const char*>(codestream), size};
    }

    // DCMTK's codecs: JPEG and JPEG-LS, but no near-lossless encoder: DCMTK's (3.6.7 to 3.6.9)
    // writes behind its buffer
    class DcmtkCodec : public IFrameCodec
    {
    public:
      // Decoders: YCbCr stays what it is, as the way to RGB and back rounds. Encoders: lossless
      // from bit to bit, of all bits allocated, so that what lies in unused ones (overlays) stays:
      // "true lossless" JPEG, and JPEG-LS that is not "cooked".
      DcmtkCodec()
      {
        DamageAppender::Install();
        DJDecoderRegistration::registerCodecs(EDC_never, EUC_never, EPC_colorByPixel);
        DJLSDecoderRegistration::registerCodecs(EJLSUC_never, EJLSPC_restore);
        DJEncoderRegistration::registerCodecs(ECC_lossyYCbCr, EUC_never);
        DJLSEncoderRegistration::registerCodecs(0, 0, 0, 0, OFFalse /* not cooked */, 0, OFTrue,
                                                EJLSUC_never);
      }

      DcmtkCodec(const DcmtkCodec&) = delete;
      DcmtkCodec& operator=(const DcmtkCodec&) = delete;

      ~DcmtkCodec() override
      {
        DJLSEncoderRegistration::cleanup();
        DJEncoderRegistration::cleanup();
        DJLSDecoderRegistration::cleanup();
        DJDecoderRegistration::cleanup();
      }

      const char* GetLibrary() const noexcept override
      {
        return "DCMTK";
      }

      bool CanDecode(CodestreamKind kind) const noexcept override
      {
        return kind == CodestreamKind::Jpeg || kind == CodestreamKind::JpegLs;
      }

      bool CanEncode(const TransferSyntax& target) const noexcept override
      {
        return target.codestream == CodestreamKind::Jpeg ||
               (target.codestream == CodestreamKind::JpegLs && !target.isLossy);
      }

      std::string Decode(CodestreamKind kind, const FrameFormat& format,
                         const CodestreamHeader& header, std::string_view frame) const override
      {
        // Of JPEG's, these decoders cover all the others: they go by the frame's header
        const E_TransferSyntax xfer = kind == CodestreamKind::JpegLs ? EXS_JPEGLSLossless
                                      : header.isLossless            ? EXS_JPEGProcess14
                                                                     : EXS_JPEGProcess2_4;
        DamageAppender::GetDamage().clear();
        std::string samples = FrameDataSet(format, header.precision > 8, false).Decode(xfer, frame);

        if (!DamageAppender::GetDamage().empty())
        {
          throw CodecError("the pixel data is damaged: " + DamageAppender::GetDamage());
        }

        return samples;
      }

      std::string Encode(const EncodingTask& task, std::string_view frame) const override
      {
        // JPEG Lossless: the prediction that .70 asks for (ITU-T T.81 table H.1), and a better one
        constexpr int FIRST_ORDER_PREDICTION = 1;
        constexpr int OTHER_PREDICTION = 6;

        if (task.isLossy)
        {
          return EncodeLossyJpeg(task, frame);
        }

        FrameDataSet dataSet(task.format, task.format.bitsAllocated > 8, task.IsRgb());

        if (task.target.codestream == CodestreamKind::JpegLs)
        {
          return dataSet.Encode(EXS_JPEGLSLossless, nullptr, frame);
        }

        const bool isFirstOrder =
            std::string_view(task.target.uid) == TransferSyntaxUid::JPEG_LOSSLESS_SV1;
        const DJ_RPLossless parameters(isFirstOrder ? FIRST_ORDER_PREDICTION : OTHER_PREDICTION);
        return dataSet.Encode(isFirstOrder ? EXS_JPEGProcess14SV1 : EXS_JPEGProcess14, &parameters,
                              frame);
      }
    };
  }

  std::unique_ptr<const IFrameCodec> MakeFrameCodec()
  {
    return std::make_unique<DcmtkCodec>();
  }
}
