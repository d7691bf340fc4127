// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/FinishedInstance.h"

#include <algorithm>
#include <string_view>

namespace OrthancPerf
{
  std::string MakePrintable(const std::string& text)
  {
    // DCMTK takes a title for a C string: one padded with NUL ends where the padding begins
    const std::string_view title(text.c_str());
    const std::size_t begin = title.find_first_not_of(' ');

    if (begin == std::string_view::npos)
    {
      return {};
    }

    const std::size_t end = title.find_last_not_of(' ') + 1;
    std::string printable(title.substr(begin, std::min(end - begin, MAXIMUM_PEER_NAME)));

    for (char& c : printable)
    {
      if (c < 0x20 || c > 0x7e)
      {
        c = '?';
      }
    }

    return printable;
  }
}
