// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/DataElement.h"

#include <string>

namespace OrthancPerf
{
  // Writes DICOM files for tests, byte by byte, so that they can be wrong in any way. Values are
  // written as given: their padding is the test's affair.
  class DicomFileBuilder
  {
  public:
    explicit DicomFileBuilder(const DicomEncoding& encoding = {}) : encoding_(encoding)
    {
    }

    DicomFileBuilder& Raw(const std::string& bytes)
    {
      bytes_ += bytes;
      return *this;
    }

    DicomFileBuilder& Element(DicomTag tag, const std::string& representation,
                              const std::string& value)
    {
      return Header(tag, representation, static_cast<std::uint32_t>(value.size())).Raw(value);
    }

    DicomFileBuilder& Header(DicomTag tag, const std::string& representation, std::uint32_t length)
    {
      Tag(tag);

      if (encoding_.isExplicit)
      {
        bytes_ += representation;

        if (!GetValueRepresentation(static_cast<std::uint8_t>(representation[0]),
                                    static_cast<std::uint8_t>(representation[1]))
                 .hasLongLength)
        {
          return Integer(length, 2);
        }

        Integer(0, 2);
      }

      return Integer(length, 4);
    }

    DicomFileBuilder& Number(DicomTag tag, std::uint32_t value)
    {
      return Header(tag, "US", 2).Integer(value, 2);
    }

    // Of one item, both of undefined length
    DicomFileBuilder& Sequence(DicomTag tag, const std::string& content)
    {
      return Header(tag, "SQ", UNDEFINED_LENGTH)
          .Item(UNDEFINED_LENGTH)
          .Raw(content)
          .EndOfItem()
          .EndOfSequence();
    }

    DicomFileBuilder& Item(std::uint32_t length)
    {
      return Tag(0xfffee000).Integer(length, 4);
    }

    DicomFileBuilder& EndOfItem()
    {
      return Tag(0xfffee00d).Integer(0, 4);
    }

    DicomFileBuilder& EndOfSequence()
    {
      return Tag(0xfffee0dd).Integer(0, 4);
    }

    // The identifiers that Orthanc needs
    DicomFileBuilder& Identifiers()
    {
      return Element(0x00080018, "UI", std::string("1.2.3.4\0", 8))
          .Element(0x00100020, "LO", "PATIENT ")
          .Element(0x0020000d, "UI", std::string("1.2.3\0", 6))
          .Element(0x0020000e, "UI", std::string("1.2.3.1\0", 8));
    }

    const std::string& GetBytes() const
    {
      return bytes_;
    }

    std::string AsFile(const std::string& transferSyntax = "1.2.840.10008.1.2.1") const
    {
      return FileMeta(transferSyntax) + bytes_;
    }

    // Preamble, prefix, File Meta Information
    static std::string FileMeta(const std::string& transferSyntax)
    {
      DicomFileBuilder elements;
      elements.Element(0x00020001, "OB", std::string("\0\1", 2))
          .Element(0x00020003, "UI", "1.2.3.44")
          .Element(0x00020010, "UI", transferSyntax + std::string(transferSyntax.size() % 2, '\0'));

      DicomFileBuilder file;
      return file.Raw(std::string(128, '\0') + "DICM")
          .Header(TAG_FILE_META_LENGTH, "UL", 4)
          .Integer(static_cast<std::uint32_t>(elements.GetBytes().size()), 4)
          .Raw(elements.GetBytes())
          .GetBytes();
    }

  private:
    DicomFileBuilder& Tag(DicomTag tag)
    {
      return Integer(tag >> 16, 2).Integer(tag & 0xffff, 2);
    }

    DicomFileBuilder& Integer(std::uint32_t value, unsigned int size)
    {
      for (unsigned int i = 0; i < size; i++)
      {
        const unsigned int byte = encoding_.isBigEndian ? size - 1 - i : i;
        bytes_.push_back(static_cast<char>(value >> (8 * byte) & 0xff));
      }

      return *this;
    }

    DicomEncoding encoding_;
    std::string bytes_;
  };
}
