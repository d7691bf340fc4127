// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/InstanceIdentity.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>

#include <boost/uuid/detail/sha1.hpp>

namespace OrthancPerf
{
  namespace
  {
    using Words = std::array<std::uint32_t, 5>;

    // Boost gives five words, from 1.86 on twenty bytes
    template <typename Unit, std::size_t count>
    Words ToWords(const Unit (&digest)[count])
    {
      constexpr std::size_t UNITS = count / Words().size();
      Words words = {};

      for (std::size_t i = 0; i < count; i++)
      {
        words[i / UNITS] = UNITS == 1 ? digest[i] : words[i / UNITS] << 8U | digest[i];
      }

      return words;
    }

    // ISO-IR 14 (DICOM PS3.3 section C.12.1.1.2) differs from ASCII in "\" and "~"
    bool IsCommon(char character)
    {
      return character >= ' ' && character < '~' && character != '\\';
    }
  }

  std::string InstanceIdentity::GetInstanceId() const
  {
    if (identifiers_.empty() || !std::all_of(identifiers_.begin(), identifiers_.end(), IsCommon))
    {
      return "";
    }

    boost::uuids::detail::sha1 sha1;
    sha1.process_bytes(identifiers_.data(), identifiers_.size());
    boost::uuids::detail::sha1::digest_type digest;
    sha1.get_digest(digest);
    const Words words = ToWords(digest);

    constexpr std::size_t LENGTH = 44;  // of 40 digits and 4 hyphens
    std::array<char, LENGTH + 1> text = {};
    (void)std::snprintf(text.data(), text.size(), "%08x-%08x-%08x-%08x-%08x", words[0], words[1],
                        words[2], words[3], words[4]);
    return text.data();
  }
}
