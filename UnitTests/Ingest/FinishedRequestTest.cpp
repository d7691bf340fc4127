// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/FinishedRequest.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    std::string Classify(const char* path, bool isPost = false)
    {
      const std::optional<RouteClass> route = ReadRouteClass(path, isPost);
      return route ? ToLabel(*route) : "none";
    }
  }

  TEST(FinishedRequest, IsClassifiedByItsRoute)
  {
    EXPECT_EQ("file", Classify("/instances/0a-1b/file"));
    EXPECT_EQ("file", Classify("/instances/0a-1b/file?transcode=1.2.840.10008.1.2.4.70"));
    EXPECT_EQ("frame", Classify("/instances/0a-1b/frames/0/raw"));
    EXPECT_EQ("frame", Classify("/instances/0a-1b/image-uint8"));
    EXPECT_EQ("preview", Classify("/instances/0a-1b/frames/3/preview"));
    EXPECT_EQ("rendered", Classify("/instances/0a-1b/rendered"));
    EXPECT_EQ("archive", Classify("/studies/0a-1b/archive"));
    EXPECT_EQ("archive", Classify("/patients/0a-1b/media"));
    EXPECT_EQ("other", Classify("/studies/0a-1b"));
    EXPECT_EQ("none", Classify("/perf/metrics"));
    EXPECT_EQ("other", Classify("/instances"));
    EXPECT_EQ("other", Classify("/"));
    EXPECT_EQ("other", Classify(""));

    // DICOMweb
    EXPECT_EQ("query", Classify("/dicom-web/studies?limit=10"));
    EXPECT_EQ("query", Classify("/dicom-web/studies/1.2/series"));
    EXPECT_EQ("query", Classify("/dicom-web/instances"));
    EXPECT_EQ("wado-study", Classify("/dicom-web/studies/1.2"));
    EXPECT_EQ("wado-series", Classify("/any/other/root/studies/1.2/series/3.4"));
    EXPECT_EQ("wado-instance", Classify("/dicom-web/studies/1.2/series/3.4/instances/5.6"));
    EXPECT_EQ("wado-frames", Classify("/dicom-web/studies/1.2/series/3.4/instances/5.6/frames/1"));
    EXPECT_EQ("wado-metadata", Classify("/dicom-web/studies/1.2/series/3.4/metadata"));
    EXPECT_EQ("rendered", Classify("/dicom-web/studies/1/series/3/instances/5/frames/1/rendered"));
    EXPECT_EQ("other", Classify("/dicom-web/studies/1/series/3/instances/5/bulk/7fe00010/1/2/3/4"));

    // A POST that only reads
    EXPECT_EQ("query", Classify("/tools/find", true));
    EXPECT_EQ("query", Classify("/tools/lookup", true));
    EXPECT_EQ("archive", Classify("/tools/create-archive", true));
    EXPECT_EQ("archive", Classify("/studies/0a-1b/archive", true));
    EXPECT_EQ("none", Classify("/instances", true));
    EXPECT_EQ("none", Classify("/dicom-web/studies", true));
  }
}
