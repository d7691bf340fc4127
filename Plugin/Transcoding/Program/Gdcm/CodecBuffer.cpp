// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Gdcm/CodecBuffer.h"

#include "Dicom/CodecError.h"

#include <cstdint>
#include <gdcmByteValue.h>
#include <gdcmFragment.h>
#include <gdcmSequenceOfFragments.h>
#include <limits>

namespace OrthancPerf
{
  namespace
  {
    std::uint32_t CheckLength(std::size_t length)
    {
      // GDCM counts in 32 bits, the last values of which have a meaning, and rounds up
      if (length > std::numeric_limits<std::int32_t>::max())
      {
        throw std::length_error("A frame is longer than GDCM can count");
      }

      return static_cast<std::uint32_t>(length);
    }

    std::string Copy(const gdcm::ByteValue* value)
    {
      if (value == nullptr || value->GetPointer() == nullptr)
      {
        throw CodecError("GDCM made no pixels of a frame");
      }

      return {value->GetPointer(), value->GetLength()};
    }
  }


  gdcm::DataElement MakeFragment(const std::string& frame)
  {
    gdcm::Fragment fragment;
    fragment.SetByteValue(frame.data(), CheckLength(frame.size()));

    // GDCM counts references: the element owns it
    auto* const fragments = new gdcm::SequenceOfFragments;
    gdcm::DataElement element(gdcm::Tag(0x7fe0, 0x0010), 0, gdcm::VR::OB);
    element.SetValue(*fragments);
    fragments->AddFragment(fragment);
    return element;
  }


  gdcm::DataElement MakeBytes(std::string_view frame)
  {
    gdcm::DataElement element(gdcm::Tag(0x7fe0, 0x0010), 0, gdcm::VR::OW);
    element.SetByteValue(frame.data(), CheckLength(frame.size()));
    return element;
  }


  std::string GetFragment(const gdcm::DataElement& element)
  {
    const gdcm::SequenceOfFragments* const fragments = element.GetSequenceOfFragments();

    if (fragments == nullptr || fragments->GetNumberOfFragments() != 1)
    {
      throw CodecError("GDCM made no frame of the pixels");
    }

    return Copy(fragments->GetFragment(0).GetByteValue());
  }


  std::string GetBytes(const gdcm::DataElement& element, std::size_t size)
  {
    std::string bytes = Copy(element.GetByteValue());

    if (bytes.size() != size && bytes.size() != size + size % 2)
    {
      throw CodecError("GDCM decoded a frame to another size than its image has");
    }

    bytes.resize(size);
    return bytes;
  }

}
