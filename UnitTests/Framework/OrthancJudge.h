// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <OrthancFramework.h>

#include <DicomFormat/DicomInstanceHasher.h>
#include <DicomFormat/DicomMap.h>
#include <DicomParsing/ParsedDicomFile.h>
#include <Logging.h>
#include <OrthancException.h>

#include <dcmtk/oflog/oflog.h>

#include <cstddef>
#include <optional>
#include <sstream>
#include <string>

namespace OrthancPerf
{
  // Orthanc's own reading of a received file, by the Framework that its server is built on:
  //
  //   const OrthancJudge judge;
  //   judge.Identify(data, size)  // Orthanc's identifier of the instance
  //
  // One at a time, on one thread: it initializes the Framework.
  class OrthancJudge
  {
  public:
    OrthancJudge()
    {
      silence_.setstate(std::ios::badbit);
      Orthanc::InitializeFramework("", false);
      Orthanc::Logging::SetErrorWarnInfoLoggingStreams(silence_, silence_, silence_);
      OFLog::configure(OFLogger::OFF_LOG_LEVEL);
    }

    ~OrthancJudge()
    {
      Orthanc::FinalizeFramework();
    }

    OrthancJudge(const OrthancJudge&) = delete;
    OrthancJudge& operator=(const OrthancJudge&) = delete;

    // As ServerContext::Store: it parses the file, extracts the identifiers, and reads the File
    // Meta Information a second time. Nothing: Orthanc refuses the file.
    std::optional<std::string> Identify(const void* data, std::size_t size) const
    {
      constexpr unsigned int MAXIMUM_TAG_LENGTH = 256;  // ORTHANC_MAXIMUM_TAG_LENGTH

      try
      {
        const Orthanc::ParsedDicomFile file(data, size);
        Orthanc::DicomMap summary;
        file.ExtractDicomSummary(summary, MAXIMUM_TAG_LENGTH);
        Orthanc::DicomInstanceHasher hasher(summary);
        Orthanc::DicomMap fileMeta;
        Orthanc::DicomMap::ParseDicomMetaInformation(fileMeta, data, size);
        return hasher.HashInstance();
      }
      catch (const Orthanc::OrthancException&)
      {
        return std::nullopt;
      }
    }

  private:
    std::ostringstream silence_;  // for what the Framework logs of each file that it refuses
  };
}
