// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/DicomFileWalk.h"

#include <boost/endian/conversion.hpp>

#include <algorithm>
#include <cstring>
#include <iterator>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::string_view PREFIX = "DICM";  // behind the preamble


    class FileMetaVisitor : public IDataElementVisitor
    {
    public:
      explicit FileMetaVisitor(DicomFileWalk& walk) noexcept : walk_(walk)
      {
      }

      void VisitElement(const DataElement& element) noexcept override
      {
        // Under another VR than UI, DCMTK does not take it for a transfer syntax
        if (element.tag == TAG_TRANSFER_SYNTAX_UID && IsUid(element) && IsText(element) &&
            walk_.transferSyntax[0] == '\0')
        {
          ElementText(element).CopyTo(walk_.transferSyntax);
        }
        else if (element.tag == TAG_MEDIA_STORAGE_SOP_INSTANCE_UID && IsText(element))
        {
          ElementText(element).CopyTo(walk_.mediaStorageSopInstanceUid);
        }
      }

    private:
      DicomFileWalk& walk_;
    };
  }


  bool HasFilePrefix(const void* data, std::size_t size) noexcept
  {
    return size >= FILE_PREFIX_LENGTH &&
           std::memcmp(static_cast<const char*>(data) + FILE_PREFIX_LENGTH - PREFIX.size(),
                       PREFIX.data(), PREFIX.size()) == 0;
  }


  void ClearTiffPreamble(std::string& file) noexcept
  {
    // TIFF 6.0 section 2 and BigTIFF, in either order of bytes
    constexpr std::size_t LENGTH = 4;
    constexpr std::string_view HEADERS[] = {
        {"II*\0", LENGTH}, {"MM\0*", LENGTH}, {"II+\0", LENGTH}, {"MM\0+", LENGTH}};
    const std::string_view begin = std::string_view(file).substr(0, LENGTH);

    if (HasFilePrefix(file.data(), file.size()) &&
        std::find(std::begin(HEADERS), std::end(HEADERS), begin) != std::end(HEADERS))
    {
      std::fill_n(file.begin(), FILE_PREFIX_LENGTH - PREFIX.size(), '\0');
    }
  }


  DicomFileWalk WalkDicomFile(const void* data, std::size_t size,
                              IDataElementVisitor& visitor) noexcept
  {
    DicomFileWalk walk;
    DataSetWalker walker(static_cast<const std::uint8_t*>(data), size,
                         HasFilePrefix(data, size) ? FILE_PREFIX_LENGTH : 0);
    FileMetaVisitor fileMeta(walk);
    walk.result = walker.WalkFileMeta(fileMeta);

    if (walk.result == WalkResult::Complete)
    {
      walk.hasDataSet = true;
      walk.syntax = FindTransferSyntax(walk.transferSyntax.data());
      walk.isDeflated = walk.syntax != nullptr && walk.syntax->coding == DataSetCoding::Deflated;
      walk.encoding = walker.GetEncodingOf(walk.syntax);

      if (!walk.isDeflated)
      {
        walk.result = walker.WalkDataSet(walk.encoding, visitor);
      }
    }

    walk.hasUnorderedElements = walker.HasUnorderedElements();
    walk.rest = {reinterpret_cast<const char*>(walker.GetNext()), walker.GetRemaining()};
    return walk;
  }


  std::string_view GetText(const DataElement& element) noexcept
  {
    constexpr std::string_view PADDING(" \0", 2);

    if (element.value == nullptr)
    {
      return {};
    }

    const std::string_view text(reinterpret_cast<const char*>(element.value), element.length);
    const std::size_t first = text.find_first_not_of(PADDING);
    return first == std::string_view::npos
               ? std::string_view()
               : text.substr(first, text.find_last_not_of(PADDING) - first + 1);
  }


  std::uint16_t GetUnsignedShort(const DataElement& element, const DicomEncoding& encoding) noexcept
  {
    if (element.value == nullptr || element.length < 2)
    {
      return 0;
    }

    return encoding.isBigEndian ? boost::endian::load_big_u16(element.value)
                                : boost::endian::load_little_u16(element.value);
  }
}
