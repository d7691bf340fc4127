// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/LibjpegWarnings.h"

#include <array>
#include <fcntl.h>
#include <string_view>
#include <system_error>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    std::mutex mutex;

    int Check(int descriptor)
    {
      if (descriptor < 0)
      {
        throw std::system_error(errno, std::generic_category(), "standard error");
      }

      return descriptor;
    }
  }


  LibjpegWarnings::LibjpegWarnings() :
    lock_(mutex),
    standardError_(Check(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3)))
  {
    Check(dup2(caught_.GetDescriptor(), STDERR_FILENO));
  }


  LibjpegWarnings::~LibjpegWarnings()
  {
    dup2(standardError_.Get(), STDERR_FILENO);
  }


  bool LibjpegWarnings::IsDamaged() const
  {
    // The first warning only is written, which is enough. GDCM accepts one that does no harm,
    // "Invalid SOS parameters for sequential JPEG", of files in the archives.
    std::array<char, 256> text = {};
    const ssize_t size = pread(caught_.GetDescriptor(), text.data(), text.size(), 0);
    const std::string_view written(text.data(), size > 0 ? static_cast<std::size_t>(size) : 0);
    return !written.empty() && written.find("Invalid SOS parameters") == std::string_view::npos;
  }
}
