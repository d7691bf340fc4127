// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/InstanceHasher.h"

#include <cstdio>

namespace OrthancPerf
{
  namespace
  {
    // Boost gives five words, from 1.86 on twenty bytes
    template <typename Unit, std::size_t count>
    InstanceDigest ToWords(const Unit (&digest)[count])
    {
      constexpr std::size_t UNITS = count / InstanceDigest().size();
      InstanceDigest words = {};

      for (std::size_t i = 0; i < count; i++)
      {
        words[i / UNITS] = UNITS == 1 ? digest[i] : words[i / UNITS] << 8U | digest[i];
      }

      return words;
    }
  }


  std::string FormatInstanceId(const InstanceDigest& digest)
  {
    constexpr std::size_t LENGTH = 44;  // of 40 digits and 4 hyphens
    std::array<char, LENGTH + 1> text = {};
    (void)std::snprintf(text.data(), text.size(), "%08x-%08x-%08x-%08x-%08x", digest[0], digest[1],
                        digest[2], digest[3], digest[4]);
    return text.data();
  }


  std::optional<InstanceDigest> InstanceHasher::Finish() noexcept
  {
    if (!isCommon_)
    {
      return std::nullopt;
    }

    boost::uuids::detail::sha1::digest_type digest;
    sha1_.get_digest(digest);
    return ToWords(digest);
  }
}
