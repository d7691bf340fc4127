// SPDX-License-Identifier: GPL-3.0-or-later
#include "Dicom/InstanceHasher.h"

#include <cstdint>
#include <cstdio>
#include <string_view>

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


    std::string Format(const Words& words)
    {
      constexpr std::size_t LENGTH = 44;  // of 40 digits and 4 hyphens
      std::array<char, LENGTH + 1> text = {};
      (void)std::snprintf(text.data(), text.size(), "%08x-%08x-%08x-%08x-%08x", words[0], words[1],
                          words[2], words[3], words[4]);
      return text.data();
    }
  }


  bool InstanceHasher::HasSameIdentifiers(const InstanceHasher& other) const noexcept
  {
    return std::string_view(text_.data(), length_) ==
           std::string_view(other.text_.data(), other.length_);
  }


  std::string InstanceHasher::GetInstanceId() const
  {
    if (!isKnown_ || length_ == 0)
    {
      return "";
    }

    boost::uuids::detail::sha1 sha1;
    sha1.process_bytes(text_.data(), length_);

    boost::uuids::detail::sha1::digest_type digest;
    sha1.get_digest(digest);
    return Format(ToWords(digest));
  }
}
