// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataSet.h"
#include "Dicom/ImageDescription.h"
#include "Dicom/InstanceIdentity.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace OrthancPerf
{
  // A DICOM file in memory, read once: who it is, what its image is like, where its elements are.
  //
  //   const ReceivedFile file(data, size);
  //   file.identity.GetInstanceId();
  //   FindObstacle(file.image, target);
  //   DataSetEditor editor(file);
  //
  // It is read strictly by DICOM PS3.5 and PS3.10. What Orthanc accepts beyond that, by DCMTK's
  // leniency, is incomplete here: it has a problem, and nobody edits or transcodes it.
  //
  // A value; it points into the bytes, which outlive it. Bounded work and memory, whatever the
  // bytes are; any thread may make one. "data" may be nullptr if "size" is zero. Throws
  // std::bad_alloc alone.
  struct ReceivedFile
  {
    ReceivedFile(const void* data, std::size_t size);

    explicit ReceivedFile(const std::string& file) : ReceivedFile(file.data(), file.size())
    {
    }

    // Read to the end: "dataSet" has all elements
    bool IsComplete() const noexcept
    {
      return !image.isDeflated && dataSet.result == ReadResult::Complete;
    }

    std::string_view bytes;
    bool hasPrefix = false;  // preamble and "DICM"
    DataSet fileMeta;
    std::string_view content;  // the bytes behind it
    DicomEncoding encoding;    // of the data set
    DataSet dataSet;           // without elements if it is deflated
    InstanceIdentity identity;
    ImageDescription image;

    // What DICOM has against it, for people; empty: nothing. Orthanc most often refuses such a
    // file. Never freed.
    const char* problem = "";

  private:
    void ReadContent();
    bool HasLegalFileMeta() const;
    void Identify();
    void FindProblem();
  };

  inline ImageDescription DescribeImage(const void* data, std::size_t size)
  {
    return ReceivedFile(data, size).image;
  }

  // Preamble and prefix, "DICM": DICOM PS3.10 section 7.1
  constexpr std::size_t FILE_PREFIX_LENGTH = 132;

  bool HasFilePrefix(std::string_view bytes) noexcept;

  // The preamble of a file may be the header of a TIFF (DICOM PS3.10 section 7.1), whose offsets
  // point at the pixels: wrong once they have moved. Fills such a preamble with zeros, in the bytes
  // of a whole file.
  void ClearTiffPreamble(std::string& file) noexcept;
}
