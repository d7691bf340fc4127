// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/PixelTranscoding.h"

#include "Dicom/CodecError.h"
#include "Dicom/CodestreamHeader.h"
#include "Dicom/EncapsulatedPixels.h"
#include "Dicom/FrameFragments.h"
#include "Dicom/PhotometricInterpretation.h"
#include "Transcoding/Program/Gdcm/FrameDecoder.h"
#include "Transcoding/Program/Gdcm/FrameEncoder.h"

namespace OrthancPerf
{
  namespace
  {
    FrameFormat GetFormat(const ImageDescription& image)
    {
      if (image.bitsAllocated != 8 && image.bitsAllocated != 16 && image.bitsAllocated != 32)
      {
        throw NotCovered("GDCM compresses only 8, 16 or 32 Bits Allocated");
      }

      if (!image.HasLegalBits())
      {
        throw CodecError("Bits Allocated, Bits Stored and High Bit contradict each other");
      }

      if (image.samplesPerPixel != 1 && image.samplesPerPixel != 3)
      {
        throw NotCovered("GDCM compresses only 1 or 3 Samples per Pixel");
      }

      return {image.columns,    image.rows,    image.samplesPerPixel,         image.bitsAllocated,
              image.bitsStored, image.highBit, image.pixelRepresentation != 0};
    }

    // As DCMTK judges: by the transfer syntax. That of JPEG 2000 allows for both.
    bool HasLoss(const TransferSyntax& syntax, const FrameFragments& frame)
    {
      std::string storage;
      return syntax.codestream == CodestreamKind::Jpeg2000
                 ? !ReadCodestreamHeader(syntax.codestream, Join(frame, storage)).isLossless
                 : syntax.isLossy;
    }

    // Whether GDCM, or this code, knows what the samples are
    void CheckColors(std::string_view photometricInterpretation, unsigned int samples)
    {
      const Photometric label = ParsePhotometric(photometricInterpretation);
      const Photometric decoded = GetDecoded(label);
      const bool isKnown =
          HasOneSample(label) || decoded == Photometric::Rgb || decoded == Photometric::YbrFull;

      if (!isKnown || HasOneSample(label) != (samples == 1))
      {
        throw NotCovered("GDCM does not compress images of this Photometric Interpretation");
      }
    }
  }


  PixelTranscoding::PixelTranscoding(DataSetEditor& editor, const ImageDescription& image,
                                     std::size_t limit) :
    editor_(editor),
    image_(image),
    format_(GetFormat(image)),
    photometricInterpretation_(image.photometricInterpretation)
  {
    CheckColors(photometricInterpretation_, format_.samples);

    // The compressed pixels of an Icon Image Sequence are in the transfer syntax of the whole
    if (image.hasNestedFragments)
    {
      throw NotCovered("A sequence, an icon's probably, has compressed pixels of its own");
    }

    if (format_.GetFrameSize() > limit / image_.frames)
    {
      throw CodecError("The image is too large for a file of this size");
    }
  }


  void PixelTranscoding::Run(const TransferSyntax& target, unsigned int quality)
  {
    Decode();

    if (target.isEncapsulated)
    {
      WriteEncapsulated(target, quality);
    }
    else
    {
      WriteNative();
    }

    editor_.Remove(TAG_EXTENDED_OFFSET_TABLE);
    editor_.Remove(TAG_EXTENDED_OFFSET_TABLE_LENGTHS);
  }


  void PixelTranscoding::Decode()
  {
    if (image_.kind == PixelDataKind::Encapsulated)
    {
      const TransferSyntax& syntax = *FindTransferSyntax(image_.transferSyntax.data());
      const CodestreamKind kind = syntax.codestream;
      bool hasLoss = false;

      for (const FrameFragments& fragments :
           FindFrames(image_.encapsulatedPixels, image_.transferSyntax.data(), image_.frames))
      {
        storage_.push_back(DecodeFrame(kind, format_, fragments));
        hasLoss = hasLoss || HasLoss(syntax, fragments);
      }

      // Once compressed with loss, always: DICOM PS3.3 section C.7.6.1.1.5. So far, the transfer
      // syntax may have been the only thing that said so.
      if (hasLoss)
      {
        editor_.Set(TAG_LOSSY_IMAGE_COMPRESSION, "CS", "01");
      }

      if (kind != CodestreamKind::Rle)
      {
        photometricInterpretation_ =
            ToTerm(GetDecoded(ParsePhotometric(photometricInterpretation_)));
      }
    }
    else
    {
      DecodeNative();
    }

    frames_.insert(frames_.end(), storage_.begin(), storage_.end());
  }


  void PixelTranscoding::DecodeNative()
  {
    const bool isSubsampled = photometricInterpretation_ == "YBR_FULL_422";
    const bool isByPlane = format_.samples > 1 && image_.planarConfiguration == 1;

    if (isSubsampled && (format_.columns % 2 != 0 || isByPlane))
    {
      throw NotCovered("Subsampled colours with an odd number of columns, or by plane");
    }

    const std::size_t size = *image_.GetNativeSize() / image_.frames;

    for (std::size_t i = 0; i < image_.frames; i++)
    {
      const std::string_view frame = image_.pixelData.substr(i * size, size);

      if (isSubsampled)
      {
        storage_.push_back(ExpandChrominance(frame, format_));
      }
      else if (isByPlane)
      {
        storage_.push_back(InterleavePlanes(frame, format_));
      }
      else
      {
        frames_.push_back(frame);
      }
    }

    if (isSubsampled)
    {
      photometricInterpretation_ = "YBR_FULL";
    }
  }


  void PixelTranscoding::WriteNative()
  {
    std::string pixels;
    pixels.reserve(format_.GetFrameSize() * frames_.size() + 1);

    for (const std::string_view frame : frames_)
    {
      pixels.append(frame);
    }

    editor_.Set(TAG_PIXEL_DATA, format_.bitsAllocated > 8 ? "OW" : "OB", pixels);
    SetColors(photometricInterpretation_);
  }


  void PixelTranscoding::WriteEncapsulated(const TransferSyntax& target, unsigned int quality)
  {
    const SampleRange range = MeasureRange(frames_, format_);
    const SampleRange unpadded =
        image_.padding.has_value()
            ? MeasureRange(frames_, format_, {image_.padding->first, image_.padding->second})
            : range;
    const FrameEncoder encoder(format_, range, unpadded, photometricInterpretation_, target,
                               quality);
    EncapsulatedPixels pixels(frames_.size());

    for (const std::string_view frame : frames_)
    {
      pixels.BeginFrame().append(encoder.Encode(frame));
      pixels.EndFrame();
    }

    editor_.SetEncoded(TAG_PIXEL_DATA, pixels.Finish());
    SetColors(encoder.GetPhotometricInterpretation());
  }


  // RLE has planes, whatever Planar Configuration says (DICOM PS3.5 section G.2): Orthanc up to
  // 1.11.2 decodes 1 to false colours
  void PixelTranscoding::SetColors(std::string_view photometricInterpretation)
  {
    if (photometricInterpretation != image_.photometricInterpretation)
    {
      editor_.Set(TAG_PHOTOMETRIC_INTERPRETATION, "CS", photometricInterpretation);
    }

    if (format_.samples > 1)
    {
      editor_.Set(TAG_PLANAR_CONFIGURATION, "US", std::string(2, '\0'));
    }
  }
}
