// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Redirection/GotPatcher.h"
#include "Tuning/TuningDocument.h"

#include <array>
#include <cstddef>
#include <optional>

namespace OrthancPerf
{
  // What Orthanc deflates while it answers
  enum class DeflatedAnswer
  {
    Archive,  // members of ZIP archives and media
    Http,     // gzip of an answer that the client accepts compressed
    Preview   // PNG pictures
  };

  // Which answer a call of deflateInit2() begins, by its arguments (zlib.h); nothing if it is
  // none, or may be something else: then its level is left alone. In Orthanc 1.10.1 to 1.13.0:
  //
  //     caller                            level  windowBits
  //     minizip for ArchiveJob                6         -15  raw deflate
  //     GzipCompressor for HttpOutput         6          31  gzip
  //     libpng for PngWriter                 -1     8 to 15  zlib's format
  //     DCMTK, deflated transfer syntax      -1         -15
  //     GzipCompressor for peers              9          31
  //
  // "StorageCompression" calls compress2(), which is not redirected.
  std::optional<DeflatedAnswer> RecognizeAnswer(int level, int windowBits) noexcept;

  // Whether these first bytes of what is to be deflated are those of a DICOM file whose pixels are
  // compressed, or whose data set is deflated. RLE is none of them: deflating makes it smaller.
  bool IsCompressedMember(const void* data, std::size_t size) noexcept;

  // Gives zlib another level than Orthanc asks for, by redirecting its calls of deflateInit2() and
  // deflate(), where Orthanc takes zlib from a shared library. Official builds have zlib inside:
  // there IsInstalled() is false. With all levels unset, zlib gets what Orthanc asks for.
  //
  // With any level, a DICOM file that is compressed already is given level 0: "stored" blocks
  // within the format of deflate. Method and headers of a member are as ever, as they are written
  // before its first byte.
  //
  // One in a process, owned by the plugin's context. Install and destruction: one thread; the rest:
  // any. The hooks are noexcept, take no lock, allocate nothing and leave errno alone.
  class AnswerCompression
  {
  public:
    AnswerCompression();

    // Levels are Orthanc's again
    ~AnswerCompression();

    AnswerCompression(const AnswerCompression&) = delete;
    AnswerCompression& operator=(const AnswerCompression&) = delete;

    // Redirects the calls; may be repeated, to reach modules that were loaded since
    void Install();

    // Whether Orthanc's calls are redirected
    bool IsInstalled() const;

    // In force with the next member, answer or picture
    void SetLevels(const AnswerTuning& tuning) noexcept;

    // What it took to deflate DICOM files at Orthanc's own level since the start, in archives and
    // over HTTP
    static std::array<double, 2> GetSeconds();

  private:
    GotPatcher orthanc_;
    GotPatcher libraries_;
  };
}
