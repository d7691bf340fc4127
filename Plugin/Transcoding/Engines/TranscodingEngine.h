// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/CodecError.h"
#include "Ingest/Clock.h"
#include "Ingest/Enumeration.h"

#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // What an instance is to become
  struct TranscodingTarget
  {
    std::string transferSyntax;      // a UID of GetWritableSyntaxes()
    unsigned int lossyQuality = 90;  // 1 to 100; lossy syntaxes only

    // When nobody wants the result any more: an engine that is not done by then fails, whatever it
    // waits for
    TimePoint deadline = TimePoint::max();
  };

  // The NEAR parameter of near-lossless JPEG-LS (ITU-T T.87: no sample differs by more) for a
  // quality of 1 to 100: 0 for 100, which loses nothing; 1 for 95 and more; then one more for each
  // 5 below, so that 90 gives 2, and 1 gives 20. NEAR counts steps of a sample, whatever its depth:
  // at 12 bits the same figure is a sixteenth of the error at 8 bits.
  constexpr int GetNearLosslessError(unsigned int quality)
  {
    return quality >= 100 ? 0 : quality < 1 ? 20 : static_cast<int>((104 - quality) / 5);
  }

  // The fidelity of lossy JPEG 2000 for a quality of 1 to 100: its peak signal to noise ratio, in
  // decibels. The peak is the range that the image's samples span, without padding. It is 20.4 for
  // 1, and 0.4 more for each step: 60 for 100. 56, for 90, is a mean error (RMS) of 0.16 % of that
  // range.
  constexpr double GetJpeg2000Fidelity(unsigned int quality)
  {
    return 20.0 + 0.4 * (quality < 1 ? 1 : quality > 100 ? 100 : quality);
  }

  enum class TranscodingOutcome
  {
    Transcoded,
    Declined,  // the engine knows that it does not cover this source or target
    Failed,    // the engine covers it, and did not get it done
    Unneeded,  // no engine was asked: there is nothing to transcode
    Duplicate  // nor here: the store has the instance already, and keeps what it has
  };

  template <>
  inline constexpr std::array LABELS<TranscodingOutcome> = {"transcoded", "declined", "failed",
                                                            "unneeded", "duplicate"};

  // What became of a file. A value.
  struct EngineResult
  {
    TranscodingOutcome outcome = TranscodingOutcome::Failed;
    std::string file;    // the DICOM file; empty unless it was transcoded
    std::string reason;  // why not, in words without patient data; empty if it was transcoded

    static EngineResult MakeTranscoded(std::string file)
    {
      return {TranscodingOutcome::Transcoded, std::move(file), ""};
    }

    static EngineResult MakeDeclined(std::string reason)
    {
      return {TranscodingOutcome::Declined, "", std::move(reason)};
    }

    static EngineResult MakeFailed(std::string reason)
    {
      return {TranscodingOutcome::Failed, "", std::move(reason)};
    }

    // What "work" returns. NotCovered becomes Declined, all other exceptions become Failed.
    template <typename Work>
    static EngineResult Of(const Work& work) noexcept
    {
      EngineResult result;

      try
      {
        try
        {
          return work();
        }
        catch (const NotCovered& error)
        {
          result.outcome = TranscodingOutcome::Declined;
          result.reason = error.what();
        }
        catch (const std::runtime_error& error)
        {
          result.reason = error.what();
        }
        catch (const std::bad_alloc&)
        {
          throw;
        }
        catch (...)  // of a codec library: its text could have anything in it
        {
          result.reason = "the file could not be read or written";
        }
      }
      catch (...)
      {
        result.reason = "No memory";  // short enough to need none
      }

      return result;
    }
  };

  // A codec library, or the project's own encoder, behind one interface: a DICOM file in, the same
  // in another transfer syntax out. An engine changes the encoding of the pixels, what the data set
  // says of that encoding (Photometric Interpretation, Planar Configuration, offset tables), and
  // the File Meta Information. All else stays, the SOP Instance UID included: LossyDerivation
  // describes what lossy compression has done to an instance, in one way for all engines.
  //
  // Owned by EngineDirectory. Any thread may call it, several at once.
  class ITranscodingEngine
  {
  public:
    virtual ~ITranscodingEngine() = default;

    virtual const char* GetName() const noexcept = 0;  // "dcmtk"

    // Why the engine can't be used at all: its program is missing, say. Empty: it can.
    virtual std::string GetProblem() const
    {
      return {};
    }

    // Declines a transfer syntax that the engine does not write. Never throws, and keeps its memory
    // within a multiple of "size", whatever the bytes are. The source is a complete DICOM file
    // (DICOM PS3.10) in any transfer syntax.
    virtual EngineResult Transcode(const void* data, std::size_t size,
                                   const TranscodingTarget& target) const noexcept = 0;

    // Running calls fail as soon as possible, later ones at once
    virtual void Stop() noexcept
    {
    }

    // Ends processes that were idle for long, and calls that have run since "hanging". To be called
    // regularly.
    virtual void Tidy(TimePoint /* hanging */) noexcept
    {
    }
  };

  // The file in Explicit VR Little Endian, by the first of these engines that can write that; else
  // the outcome of the last one, and what all of them say. Never throws but for lack of memory.
  EngineResult Uncompress(const std::vector<const ITranscodingEngine*>& engines, const void* data,
                          std::size_t size, TimePoint deadline = TimePoint::max());
}
