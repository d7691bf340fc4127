// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/Deflate.h"

#include "Dicom/CodecError.h"

#include <algorithm>
#include <array>
#include <limits>
#include <zlib.h>

namespace OrthancPerf
{
  namespace
  {
    constexpr int RAW = -MAX_WBITS;  // zlib.h: no header

    // Calls "step" of zlib until it is done, with more and more of "bytes" as input
    template <typename Step>
    std::string Run(z_stream& stream, std::string_view bytes, std::size_t limit, Step step)
    {
      constexpr std::size_t MAXIMUM_INPUT = std::numeric_limits<uInt>::max() / 2;
      std::array<char, 1 << 16> buffer = {};
      std::string result;

      for (;;)
      {
        if (stream.avail_in == 0)
        {
          stream.avail_in = static_cast<uInt>(std::min(bytes.size(), MAXIMUM_INPUT));
          stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
          bytes.remove_prefix(stream.avail_in);
        }

        stream.avail_out = static_cast<uInt>(buffer.size());
        stream.next_out = reinterpret_cast<Bytef*>(buffer.data());

        const int code = step(&stream, bytes.empty() ? Z_FINISH : Z_NO_FLUSH);
        result.append(buffer.data(), buffer.size() - stream.avail_out);

        if (code == Z_STREAM_END)
        {
          return result;
        }

        const bool isStuck = stream.avail_out == buffer.size();

        if ((code != Z_OK && code != Z_BUF_ERROR) || isStuck)
        {
          throw CodecError("The deflated data set is cut off or damaged");
        }

        if (result.size() > limit)
        {
          throw CodecError("The deflated data set is too large");
        }
      }
    }
  }


  std::string Deflate(std::string_view bytes)
  {
    z_stream stream = {};

    if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, RAW, 8, Z_DEFAULT_STRATEGY) !=
        Z_OK)
    {
      throw CodecError("zlib could not begin");
    }

    try
    {
      std::string result = Run(stream, bytes, std::numeric_limits<std::size_t>::max(), deflate);
      deflateEnd(&stream);
      return result;
    }
    catch (...)
    {
      deflateEnd(&stream);
      throw;
    }
  }


  std::string Inflate(std::string_view bytes, std::size_t limit)
  {
    z_stream stream = {};

    if (inflateInit2(&stream, RAW) != Z_OK)
    {
      throw CodecError("zlib could not begin");
    }

    try
    {
      std::string result =
          Run(stream, bytes, limit, [](z_stream* s, int) { return inflate(s, Z_NO_FLUSH); });
      inflateEnd(&stream);
      return result;
    }
    catch (...)
    {
      inflateEnd(&stream);
      throw;
    }
  }
}
