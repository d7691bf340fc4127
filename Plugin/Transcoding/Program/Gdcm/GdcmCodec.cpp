// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/CodecError.h"
#include "Redirection/FileDescriptor.h"
#include "Transcoding/Engines/TranscodingEngine.h"
#include "Transcoding/Program/Frames/FrameCodec.h"
#include "Transcoding/Worker/WorkerChannel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <dcmtk/config/osconfig.h>
#include <dcmtk/oflog/oflog.h>
#include <fcntl.h>
#include <gdcmByteValue.h>
#include <gdcmFragment.h>
#include <gdcmJPEG2000Codec.h>
#include <gdcmJPEGCodec.h>
#include <gdcmJPEGLSCodec.h>
#include <gdcmSequenceOfFragments.h>
#include <gdcmTrace.h>
#include <limits>
#include <system_error>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    const gdcm::Tag PIXEL_DATA(0x7fe0, 0x0010);

    std::uint32_t CheckLength(std::size_t length)
    {
      // GDCM counts in 32 bits, the last values of which have a meaning, and rounds up
      if (length > std::numeric_limits<std::int32_t>::max())
      {
        throw std::length_error("A frame is longer than GDCM can count");
      }

      return static_cast<std::uint32_t>(length);
    }

    std::string Copy(const gdcm::ByteValue* value)
    {
      if (value == nullptr || value->GetPointer() == nullptr)
      {
        throw CodecError("GDCM made nothing of a frame");
      }

      return {value->GetPointer(), value->GetLength()};
    }

    // "bits" of each sample are coded. No codec converts colours, unless they are said to be RGB.
    void SetUp(gdcm::ImageCodec& codec, const FrameFormat& format, unsigned int bits, bool isSigned,
               bool isRgb)
    {
      using Colors = gdcm::PhotometricInterpretation;
      const std::array<unsigned int, 3> dimensions = {static_cast<unsigned int>(format.columns),
                                                      static_cast<unsigned int>(format.rows), 1};
      const auto width = static_cast<unsigned short>(bits);
      codec.SetNumberOfDimensions(2);
      codec.SetDimensions(dimensions.data());
      codec.SetPlanarConfiguration(0);
      codec.SetPhotometricInterpretation(format.samples == 1 ? Colors::MONOCHROME2
                                         : isRgb             ? Colors::RGB
                                                             : Colors::YBR_FULL);
      codec.SetNeedOverlayCleanup(false);
      codec.SetPixelFormat(gdcm::PixelFormat(static_cast<unsigned short>(format.samples), width,
                                             width, static_cast<unsigned short>(bits - 1),
                                             isSigned ? 1 : 0));
    }

    // Padded to an even length
    std::string CallEncoder(gdcm::ImageCodec& codec, std::string_view frame)
    {
      gdcm::DataElement source(PIXEL_DATA, 0, gdcm::VR::OW);
      gdcm::DataElement encoded;
      source.SetByteValue(frame.data(), CheckLength(frame.size()));

      if (!codec.Code(source, encoded) || encoded.GetSequenceOfFragments() == nullptr ||
          encoded.GetSequenceOfFragments()->GetNumberOfFragments() != 1)
      {
        throw CodecError("GDCM could not encode a frame");
      }

      return Copy(encoded.GetSequenceOfFragments()->GetFragment(0).GetByteValue());
    }

    // "size": of the decoded frame
    std::string CallDecoder(gdcm::ImageCodec& codec, std::string_view codestream, std::size_t size)
    {
      gdcm::Fragment fragment;
      fragment.SetByteValue(codestream.data(), CheckLength(codestream.size()));

      // GDCM counts references: the element owns it
      auto* const fragments = new gdcm::SequenceOfFragments;
      gdcm::DataElement source(PIXEL_DATA, 0, gdcm::VR::OB);
      gdcm::DataElement decoded;
      source.SetValue(*fragments);
      fragments->AddFragment(fragment);

      if (!codec.Decode(source, decoded))
      {
        throw CodecError("GDCM could not decode a frame");
      }

      std::string bytes = Copy(decoded.GetByteValue());

      if (bytes.size() != size && bytes.size() != size + size % 2)
      {
        throw CodecError("GDCM decoded a frame to another size than its image has");
      }

      bytes.resize(size);
      return bytes;
    }

    // Catches what libjpeg says of damaged streams while this object lives. GDCM lets one warning
    // for a frame pass, and the rest of the frame is grey then; the only trace is a line on the
    // standard error stream of the process, which this takes over.
    class LibjpegWarnings
    {
    public:
      LibjpegWarnings() : standardError_(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3))
      {
        if (standardError_.Get() < 0 || dup2(caught_.Get(), STDERR_FILENO) < 0)
        {
          throw std::system_error(errno, std::generic_category(), "standard error");
        }
      }

      LibjpegWarnings(const LibjpegWarnings&) = delete;
      LibjpegWarnings& operator=(const LibjpegWarnings&) = delete;

      ~LibjpegWarnings()
      {
        dup2(standardError_.Get(), STDERR_FILENO);
      }

      // The first warning only is written, which is enough. GDCM accepts one that does no harm,
      // "Invalid SOS parameters for sequential JPEG", of files in the archives.
      bool IsDamaged() const
      {
        std::array<char, 256> text = {};
        const ssize_t size = pread(caught_.Get(), text.data(), text.size(), 0);
        const std::string_view written(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
        return !written.empty() && written.find("Invalid SOS parameters") == std::string_view::npos;
      }

    private:
      const FileDescriptor caught_ = CreateMemoryFile();
      const FileDescriptor standardError_;
    };

    // How many bits of each sample JPEG-LS encodes: without loss, all that are allocated; with
    // loss, those that are stored, as no other sample is to come back. DCMTK, thus Orthanc, reads
    // fewer than 8 in another way than others, and with up to 8 the codecs take samples of one
    // byte.
    unsigned int GetJpegLsBits(const EncodingTask& task)
    {
      const unsigned int minimum = task.format.bitsAllocated == 8 ? 8U : 9U;
      return task.isLossy && !task.format.isSigned ? std::max(task.format.bitsStored, minimum)
                                                   : task.format.bitsAllocated;
    }

    // libjpeg knows 8, 12 and 16 bits, with loss the first two of them
    unsigned int GetJpegBits(const EncodingTask& task)
    {
      return task.isLossy ? std::min(task.format.bitsAllocated, 12U) : task.format.bitsAllocated;
    }

    // An eighth of all values there are is the most that makes sense. No sample differs by more
    // than the error, and CharLS keeps them within the bits that it encodes; but it takes them for
    // unsigned: beyond its largest value, a signed one would become the smallest.
    void CheckError(const EncodingTask& task)
    {
      const int error = GetNearLosslessError(task.quality);
      const SampleRange reached = {task.range.minimum - error, task.range.maximum + error};

      if (8 * error > 1 << task.format.bitsStored)
      {
        throw NotCovered("The error of lossy compression would be large for so few bits");
      }

      if ((task.format.isSigned || GetJpegLsBits(task) > task.format.bitsStored) &&
          !reached.FitsInto(SampleRange::Allowed(task.format)))
      {
        throw NotCovered("Lossy compression would make samples exceed Bits Stored");
      }
    }

    // In decibels. GDCM encodes all allocated bits, and the peak of its signal to noise ratio is
    // their largest value: CT of 12 bits in 16 would be treated as if all of it was noise. So would
    // CT that is padded with values far below.
    double GetUnusedRange(const EncodingTask& task)
    {
      const auto used = static_cast<double>(task.unpadded.maximum - task.unpadded.minimum);
      const double all = std::pow(2.0, task.format.bitsAllocated) - 1.0;
      return 20.0 * std::log10(all / std::max(used, 1.0));
    }

    std::string EncodeJpeg2000(const EncodingTask& task, std::string_view frame)
    {
      gdcm::JPEG2000Codec codec;
      SetUp(codec, task.format, task.format.bitsAllocated, task.format.isSigned, task.IsRgb());
      codec.SetMCT(task.IsRgb() ? 1 : 0);
      codec.SetReversible(!task.isLossy);

      if (task.isLossy)
      {
        codec.SetQuality(0, GetJpeg2000Fidelity(task.quality) + GetUnusedRange(task));
      }

      try
      {
        return CallEncoder(codec, frame);
      }
      catch (const CodecError&)
      {
        // Where pixels have more than 4 bytes, GDCM's buffer is too small for what is hard to
        // compress
        throw NotCovered("GDCM could not write a frame in JPEG 2000");
      }
    }

    // GDCM's codecs: libjpeg with 8, 12 and 16 bits, CharLS, OpenJPEG. Only for the program
    // OrthancPerfGdcm: GDCM's assertions, which Debian leaves in, may end it.
    class GdcmCodec : public IFrameCodec
    {
    public:
      GdcmCodec()
      {
        gdcm::Trace::DebugOff();
        gdcm::Trace::WarningOff();
        gdcm::Trace::ErrorOff();
        OFLog::configure(OFLogger::OFF_LOG_LEVEL);  // values of elements among it
      }

      const char* GetLibrary() const noexcept override
      {
        return "GDCM";
      }

      bool CanDecode(CodestreamKind) const noexcept override
      {
        return true;
      }

      bool CanEncode(const TransferSyntax&) const noexcept override
      {
        return true;
      }

      std::string Decode(CodestreamKind kind, const FrameFormat& format,
                         const CodestreamHeader& header, std::string_view frame) const override
      {
        const unsigned int bits = header.precision <= 8 ? 8 : 16;
        const std::size_t size = format.rows * format.columns * format.samples * (bits / 8);

        if (kind == CodestreamKind::Jpeg)
        {
          // GDCM picks its library by the bits: libjpeg is there three times
          const unsigned int depth = header.precision > 8 && header.precision <= 12 ? 12 : bits;
          const LibjpegWarnings warnings;
          gdcm::JPEGCodec codec;
          SetUp(codec, format, depth, false, false);
          std::string samples = CallDecoder(codec, frame, size);

          if (warnings.IsDamaged())
          {
            throw CodecError("A JPEG frame is damaged");
          }

          return samples;
        }

        if (kind == CodestreamKind::JpegLs)
        {
          gdcm::JPEGLSCodec codec;
          SetUp(codec, format, bits, false, false);
          return CallDecoder(codec, frame, size);
        }

        gdcm::JPEG2000Codec codec;
        codec.SetNumberOfThreadsForDecompression(0);
        SetUp(codec, format, bits, header.isSigned, false);
        return CallDecoder(codec, frame, size);
      }

      std::string Encode(const EncodingTask& task, std::string_view frame) const override
      {
        if (task.target.codestream == CodestreamKind::Jpeg2000)
        {
          return EncodeJpeg2000(task, frame);
        }

        if (task.target.codestream == CodestreamKind::JpegLs)
        {
          if (task.isLossy)
          {
            CheckError(task);
          }

          gdcm::JPEGLSCodec codec;
          codec.SetLossless(!task.isLossy);
          codec.SetLossyError(task.isLossy ? GetNearLosslessError(task.quality) : 0);
          SetUp(codec, task.format, GetJpegLsBits(task), false, task.IsRgb());
          return CallEncoder(codec, frame);
        }

        gdcm::JPEGCodec codec;
        codec.SetLossless(!task.isLossy);
        codec.SetQuality(task.isLossy ? task.quality : 100);
        SetUp(codec, task.format, GetJpegBits(task), false, task.IsRgb());
        return CallEncoder(codec, frame);
      }
    };
  }

  std::unique_ptr<const IFrameCodec> MakeFrameCodec()
  {
    return std::make_unique<GdcmCodec>();
  }
}
