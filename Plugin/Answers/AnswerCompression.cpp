// SPDX-License-Identifier: GPL-3.0-or-later
#include "Answers/AnswerCompression.h"

#include "Dicom/DataElement.h"
#include "Dicom/ReceivedFile.h"
#include "Ingest/Clock.h"

#include <array>
#include <atomic>
#include <dlfcn.h>
#include <string_view>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::size_t DEFLATED_ANSWER_COUNT = 3;

    // The first members of z_stream (zlib.h), which every program is compiled with
    struct ZStream
    {
      const unsigned char* input;
      unsigned int inputSize;
      unsigned long totalInput;
      unsigned char* output;
      unsigned int outputSize;
    };

    using DeflateInit = int (*)(ZStream* stream, int level, int method, int windowBits,
                                int memoryLevel, int strategy, const char* version, int size);
    using Deflate = int (*)(ZStream* stream, int flush);
    using DeflateParams = int (*)(ZStream* stream, int level, int strategy);

    // Set before anything is redirected, and kept for ever
    struct Zlib
    {
      DeflateInit deflateInit = nullptr;
      Deflate deflate = nullptr;
      DeflateParams deflateParams = nullptr;

      bool Load() noexcept
      {
        // RTLD_NOLOAD: only if Orthanc has it. Never closed, as a hook may be under way.
        void* const library = dlopen("libz.so.1", RTLD_NOW | RTLD_NOLOAD);

        if (library != nullptr && deflateInit == nullptr)
        {
          deflate = reinterpret_cast<Deflate>(dlsym(library, "deflate"));
          deflateParams = reinterpret_cast<DeflateParams>(dlsym(library, "deflateParams"));
          deflateInit = reinterpret_cast<DeflateInit>(dlsym(library, "deflateInit2_"));
        }

        return deflate != nullptr && deflateParams != nullptr && deflateInit != nullptr;
      }
    };

    constexpr int UNSET = -2;  // -1 is zlib's own default
    using Level = std::atomic<int>;

    // What this thread has begun to deflate. Orthanc ends a stream before it begins the next.
    struct Begun
    {
      const ZStream* stream;
      DeflatedAnswer answer;
      bool isTuned;    // its level
      bool isUntried;  // nothing was deflated yet
    };

    // Laid out with the thread itself, as the first access to other thread-local storage of a
    // plugin allocates
    __attribute__((tls_model("initial-exec"))) thread_local Begun begun = {};

    // Nanoseconds at Orthanc's own level, by DeflatedAnswer; pictures are not measured
    std::array<std::atomic<std::uint64_t>, DEFLATED_ANSWER_COUNT> sums = {};

    Zlib zlib;
    std::array<Level, DEFLATED_ANSWER_COUNT> levels = {UNSET, UNSET, UNSET};

    Level& GetLevel(DeflatedAnswer answer) noexcept
    {
      return levels[static_cast<std::size_t>(answer)];
    }

    int OnDeflateInit(ZStream* stream, int level, int method, int windowBits, int memoryLevel,
                      int strategy, const char* version, int size) noexcept
    {
      begun = {};

      if (const std::optional<DeflatedAnswer> answer = RecognizeAnswer(level, windowBits))
      {
        const int wanted = GetLevel(*answer).load(std::memory_order_relaxed);
        level = wanted == UNSET ? level : wanted;
        begun = {stream, *answer, wanted != UNSET, true};
      }

      return zlib.deflateInit(stream, level, method, windowBits, memoryLevel, strategy, version,
                              size);
    }

    // Orthanc and minizip hand a file over in one piece. Before the first byte is deflated,
    // deflateParams() writes nothing.
    int OnDeflate(ZStream* stream, int flush) noexcept
    {
      constexpr int DEFAULT_STRATEGY = 0;

      if (stream == nullptr || stream != begun.stream || stream->inputSize == 0)
      {
        return zlib.deflate(stream, flush);
      }

      if (std::exchange(begun.isUntried, false))
      {
        if (begun.isTuned && IsCompressedMember(stream->input, stream->inputSize))
        {
          zlib.deflateParams(stream, 0, DEFAULT_STRATEGY);
        }

        if (begun.isTuned ||
            !HasFilePrefix({reinterpret_cast<const char*>(stream->input), stream->inputSize}))
        {
          begun.stream = nullptr;
          return zlib.deflate(stream, flush);
        }
      }

      const TimePoint begin = Clock::now();
      const int result = zlib.deflate(stream, flush);
      const std::chrono::nanoseconds time = Clock::now() - begin;
      sums[static_cast<std::size_t>(begun.answer)] += static_cast<std::uint64_t>(time.count());
      return result;
    }

    std::vector<Redirection> GetRedirections()
    {
      return {{"deflateInit2_", reinterpret_cast<void*>(&OnDeflateInit)},
              {"deflate", reinterpret_cast<void*>(&OnDeflate)}};
    }

    bool BeginsWith(std::string_view text, std::string_view begin) noexcept
    {
      return text.substr(0, begin.size()) == begin;
    }

    bool IsExecutable(const std::string& path)
    {
      return path.empty();
    }

    // Which Debian's Orthanc has outside: libpng, and minizip in 1.13.0
    bool IsLibraryOfOrthanc(const std::string& path)
    {
      const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
      return BeginsWith(name, "libminizip.so") || BeginsWith(name, "libpng");
    }

    bool HasBegun(const GotPatcher& patcher)
    {
      const std::vector<RedirectionState> states = patcher.GetStates();
      return states[0].slots > 0 && states[1].slots > 0;
    }
  }

  std::optional<DeflatedAnswer> RecognizeAnswer(int level, int windowBits) noexcept
  {
    constexpr int WINDOW = 15;  // MAX_WBITS
    constexpr int SMALLEST_WINDOW = 8;
    constexpr int GZIP = 16;
    constexpr int OF_ORTHANC = 6;  // DeflateBaseCompressor, ZipWriter
    constexpr int OF_ZLIB = -1;    // Z_DEFAULT_COMPRESSION

    if (level == OF_ORTHANC && windowBits == -WINDOW)
    {
      return DeflatedAnswer::Archive;
    }

    if (level == OF_ORTHANC && windowBits == WINDOW + GZIP)
    {
      return DeflatedAnswer::Http;
    }

    if (level == OF_ZLIB && windowBits >= SMALLEST_WINDOW && windowBits <= WINDOW)
    {
      return DeflatedAnswer::Preview;
    }

    return std::nullopt;
  }

  // By the element (0002,0010) of the File Meta Information, which is Explicit VR Little Endian
  // (DICOM PS3.10 section 7.1). Before it are UIDs and numbers only, which do not look like its
  // header.
  bool IsCompressedMember(const void* data, std::size_t size) noexcept
  {
    constexpr std::size_t FARTHEST = 512;
    constexpr std::size_t HEADER = 8;
    constexpr std::string_view TRANSFER_SYNTAX("\x02\0\x10\0UI", 6);
    constexpr std::string_view JPEG_AND_VIDEO = "1.2.840.10008.1.2.4.";  // PS3.6 table A-1
    const std::string_view member(static_cast<const char*>(data), size);
    const std::size_t element = member.substr(0, FARTHEST).find(TRANSFER_SYNTAX);

    if (!HasFilePrefix(member) || element == std::string_view::npos || size - element < HEADER)
    {
      return false;
    }

    const auto length = ReadLittle<std::uint16_t>(member, element + TRANSFER_SYNTAX.size());
    std::string_view uid = member.substr(element + HEADER, length);
    uid = uid.substr(0, uid.find_last_not_of(std::string_view("\0 ", 2)) + 1);
    return element + HEADER + length <= size &&
           (BeginsWith(uid, JPEG_AND_VIDEO) || uid == TransferSyntaxUid::DEFLATED_LITTLE_ENDIAN);
  }

  AnswerCompression::AnswerCompression() :
    orthanc_(GetRedirections(), &levels, &IsExecutable),
    libraries_(GetRedirections(), &levels, &IsLibraryOfOrthanc)
  {
  }

  AnswerCompression::~AnswerCompression()
  {
    SetLevels({});
  }

  void AnswerCompression::Install()
  {
    if (zlib.Load())
    {
      orthanc_.Refresh();

      if (HasBegun(orthanc_))
      {
        libraries_.Refresh();
      }
    }
  }

  bool AnswerCompression::IsInstalled() const
  {
    return HasBegun(orthanc_);
  }

  std::array<double, 2> AnswerCompression::GetSeconds()
  {
    const auto get = [](DeflatedAnswer answer)
    {
      return ToSeconds(std::chrono::nanoseconds(sums[static_cast<std::size_t>(answer)]));
    };
    return {get(DeflatedAnswer::Archive), get(DeflatedAnswer::Http)};
  }

  void AnswerCompression::SetLevels(const AnswerTuning& tuning) noexcept
  {
    GetLevel(DeflatedAnswer::Archive) = tuning.archiveLevel.value_or(UNSET);
    GetLevel(DeflatedAnswer::Http) = tuning.httpLevel.value_or(UNSET);
    GetLevel(DeflatedAnswer::Preview) = tuning.previewLevel.value_or(UNSET);
  }
}
