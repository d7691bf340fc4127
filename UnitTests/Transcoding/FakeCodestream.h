// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/FrameFragments.h"
#include "Dicom/ReceivedFile.h"
#include "Dicom/RleFrame.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  // Codestreams that are well-formed but for their coded data: JPEG and JPEG-LS hold the bytes of a
  // frame in application segments, RLE in literal runs, in the order in which they come

  inline std::string MakeSegment(std::uint8_t marker, std::string_view content)
  {
    const std::size_t length = content.size() + 2;
    std::string segment = {'\xff', static_cast<char>(marker), static_cast<char>(length >> 8 & 0xff),
                           static_cast<char>(length & 0xff)};
    return segment.append(content);
  }

  inline std::string MakeFakeJpeg(const ImageDescription& image, std::string_view frame, bool isLs)
  {
    constexpr std::size_t LONGEST = 65000;
    const auto samples = static_cast<char>(image.samplesPerPixel);
    std::string header = {
        static_cast<char>(image.bitsAllocated),  static_cast<char>(image.rows >> 8 & 0xff),
        static_cast<char>(image.rows & 0xff),    static_cast<char>(image.columns >> 8 & 0xff),
        static_cast<char>(image.columns & 0xff), samples};
    std::string scan = {samples};

    for (char i = 1; i <= samples; i++)
    {
      header.append({i, '\x11', '\0'});
      scan.append({i, '\0'});
    }

    std::string stream = "\xff\xd8" + MakeSegment(isLs ? 0xf7 : 0xc3, header);

    for (std::size_t i = 0; i < frame.size(); i += LONGEST)
    {
      stream += MakeSegment(0xef, frame.substr(i, LONGEST));
    }

    return stream + MakeSegment(0xda, scan + std::string(3, '\0')) + "\xff\xd9";
  }

  inline std::string ReadFakeJpeg(std::string_view stream)
  {
    const auto read = [stream](std::size_t i)
    {
      return static_cast<std::uint8_t>(stream.at(i));
    };
    std::string frame;

    for (std::size_t i = 2; read(i + 1) != 0xda;)
    {
      const std::size_t length = read(i + 2) << 8U | read(i + 3);
      frame += read(i + 1) == 0xef ? stream.substr(i + 4, length - 2) : std::string_view();
      i += 2 + length;
    }

    return frame;
  }

  inline std::string MakeFakeRle(const ImageDescription& image, std::string_view frame)
  {
    constexpr std::size_t LONGEST = 128;
    const std::size_t size = std::size_t(image.rows) * image.columns;
    std::vector<std::string> segments;
    RleSegments views;

    for (std::size_t begin = 0; begin + size <= frame.size(); begin += size)
    {
      std::string segment;

      for (std::size_t i = 0; i < size; i += LONGEST)
      {
        const std::size_t length = std::min(LONGEST, size - i);
        segment += static_cast<char>(length - 1);
        segment += frame.substr(begin + i, length);
      }

      segments.push_back(segment);
    }

    views.assign(segments.begin(), segments.end());
    return JoinRleSegments(views);
  }

  inline std::string ReadFakeRle(const ImageDescription& image, std::string_view stream)
  {
    const std::size_t count = image.samplesPerPixel * (image.bitsAllocated / 8U);
    std::string frame;

    for (const std::string_view segment :
         SplitRleFrame(stream, count, std::size_t(image.rows) * image.columns))
    {
      for (std::size_t i = 0; i < segment.size();)
      {
        const std::size_t length = static_cast<std::uint8_t>(segment[i]) + 1U;
        frame += segment.substr(i + 1, length);
        i += 1 + length;
      }
    }

    return frame;
  }

  inline std::string MakeFakeFrame(const ImageDescription& image, const std::string& syntax,
                                   std::string_view frame)
  {
    return syntax == TransferSyntaxUid::RLE_LOSSLESS
               ? MakeFakeRle(image, frame)
               : MakeFakeJpeg(image, frame, syntax.rfind("1.2.840.10008.1.2.4.8", 0) == 0);
  }

  inline std::vector<std::string> MakeFakeFrames(const ImageDescription& image,
                                                 const std::string& syntax,
                                                 const std::string& pixels)
  {
    const std::size_t size = image.GetNativeSize().value_or(0) / image.frames;
    std::vector<std::string> frames;

    for (std::size_t i = 0; i < image.frames; i++)
    {
      frames.push_back(MakeFakeFrame(image, syntax, pixels.substr(i * size, size)));
    }

    return frames;
  }

  inline std::string ReadFakeFrames(const ImageDescription& image)
  {
    const std::string_view syntax = image.transferSyntax;
    std::string pixels;

    for (const FrameFragments& frame : FindFrames(image.encapsulatedPixels, syntax, image.frames))
    {
      pixels += syntax == TransferSyntaxUid::RLE_LOSSLESS ? ReadFakeRle(image, frame.front())
                                                          : ReadFakeJpeg(frame.front());
    }

    return pixels;
  }
}
