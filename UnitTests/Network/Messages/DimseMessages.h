// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // A 16-bit and a 32-bit number in little endian, as command sets have them
  inline std::string ToLittleEndian16(std::uint16_t value)
  {
    return {static_cast<char>(value & 0xff), static_cast<char>(value >> 8U)};
  }

  inline std::string ToLittleEndian32(std::uint32_t value)
  {
    return ToLittleEndian16(static_cast<std::uint16_t>(value & 0xffff)) +
           ToLittleEndian16(static_cast<std::uint16_t>(value >> 16U));
  }

  // An element of a command set: Implicit VR Little Endian (DICOM PS3.7 section 6.3.1)
  inline std::string MakeElement(std::uint16_t element, const std::string& value)
  {
    return ToLittleEndian16(0) + ToLittleEndian16(element) +
           ToLittleEndian32(static_cast<std::uint32_t>(value.size())) + value;
  }

  // A PDU of this type around these bytes (DICOM PS3.8 section 9.3.1)
  inline std::string MakePdu(char type, const std::string& content)
  {
    std::string length;
    for (int shift = 24; shift >= 0; shift -= 8)
    {
      length += static_cast<char>((content.size() >> static_cast<unsigned int>(shift)) & 0xff);
    }
    return std::string({type, 0}) + length + content;
  }

  // A P-DATA-TF PDU with one fragment, and its message control header (DICOM PS3.8 annex E.2)
  inline std::string MakeDataPdu(char control, const std::string& fragment)
  {
    const std::string value = std::string({1, control}) + fragment;
    const std::string length = {0, 0, static_cast<char>(value.size() >> 8U),
                                static_cast<char>(value.size() & 0xff)};
    return MakePdu(4, length + value);
  }

  inline std::string MakeMessageId(std::uint16_t id)
  {
    return MakeElement(0x0110, ToLittleEndian16(id));
  }

  // A P-DATA-TF PDU with a command set of which the Command Field is the given one. Its Message ID,
  // or that which it answers (0000,0120), follows; further elements stand at its end.
  inline std::string MakeDimseCommand(std::uint16_t commandField, const std::string& further = {},
                                      const std::string& id = MakeMessageId(1))
  {
    const std::string elements = MakeElement(0x0002, "1.2.840.10008.5.1.4.1.1.2\0") +
                                 MakeElement(0x0100, ToLittleEndian16(commandField)) + id + further;
    const std::string length = ToLittleEndian32(static_cast<std::uint32_t>(elements.size()));
    return MakeDataPdu(3, MakeElement(0x0000, length) + elements);
  }

  inline std::string MakeStoreRequest(const std::string& sopInstanceUid, std::uint16_t id = 1)
  {
    return MakeDimseCommand(0x0001,
                            MakeElement(0x0700, ToLittleEndian16(0)) +
                                MakeElement(0x0800, ToLittleEndian16(1)) +
                                MakeElement(0x1000, sopInstanceUid),
                            MakeMessageId(id));
  }

  // As if it did not say which request it answers, or of this one (DICOM PS3.7 section 9.3.1.2)
  inline std::string MakeStoreResponse(std::uint16_t status,
                                       std::optional<std::uint16_t> answeredId = {})
  {
    return MakeDimseCommand(0x8001,
                            MakeElement(0x0800, ToLittleEndian16(0x0101)) +
                                MakeElement(0x0900, ToLittleEndian16(status)),
                            answeredId ? MakeElement(0x0120, ToLittleEndian16(*answeredId))
                                       : MakeMessageId(1));
  }

  // A P-DATA-TF PDU with a piece of a data set
  inline std::string MakeDataSet(std::size_t size)
  {
    return MakeDataPdu(2, std::string(size, 'x'));
  }

  // An A-ASSOCIATE-RQ without items (DICOM PS3.8 section 9.3.2)
  inline std::string MakeAssociateRequest(const std::string& called, const std::string& calling)
  {
    const auto pad = [](std::string title)
    {
      title.resize(16, ' ');
      return title;
    };
    return MakePdu(1,
                   std::string({0, 1, 0, 0}) + pad(called) + pad(calling) + std::string(32, '\0'));
  }
}
