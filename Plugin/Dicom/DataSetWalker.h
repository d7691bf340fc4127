// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Dicom/TransferSyntax.h"
#include "Dicom/ValueRepresentation.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace OrthancPerf
{
  // The length of a value that ends with a delimitation item: DICOM PS3.5 section 7.1.1
  constexpr std::uint32_t UNDEFINED_LENGTH = 0xffffffff;

  // A tag as one number: (0008,0018) is 0x00080018
  using DicomTag = std::uint32_t;

  // Those that more than one file of the code calls by name: DICOM PS3.6
  constexpr DicomTag TAG_FILE_META_LENGTH = 0x00020000;
  constexpr DicomTag TAG_MEDIA_STORAGE_SOP_INSTANCE_UID = 0x00020003;
  constexpr DicomTag TAG_TRANSFER_SYNTAX_UID = 0x00020010;
  constexpr DicomTag TAG_SOP_CLASS_UID = 0x00080016;
  constexpr DicomTag TAG_SOP_INSTANCE_UID = 0x00080018;
  constexpr DicomTag TAG_PHOTOMETRIC_INTERPRETATION = 0x00280004;
  constexpr DicomTag TAG_PLANAR_CONFIGURATION = 0x00280006;
  constexpr DicomTag TAG_LOSSY_IMAGE_COMPRESSION = 0x00282110;
  constexpr DicomTag TAG_EXTENDED_OFFSET_TABLE = 0x7fe00001;
  constexpr DicomTag TAG_EXTENDED_OFFSET_TABLE_LENGTHS = 0x7fe00002;
  constexpr DicomTag TAG_PIXEL_DATA = 0x7fe00010;
  constexpr DicomTag TAG_ITEM = 0xfffee000;
  constexpr DicomTag TAG_SEQUENCE_DELIMITATION = 0xfffee0dd;

  // How data elements are encoded: DICOM PS3.5 sections 7.1 and 7.3
  struct DicomEncoding
  {
    bool isExplicit = true;
    bool isBigEndian = false;
  };

  // A data element. It points into the walked bytes; no value for sequences and fragments.
  struct DataElement
  {
    const std::uint8_t* header = nullptr;
    DicomTag tag = 0;
    ValueRepresentation representation;
    std::uint32_t length = 0;
    const std::uint8_t* value = nullptr;
  };

  // Is shown the elements of the outermost level, in the order of the file, and told of those in
  // items
  class IDataElementVisitor
  {
  public:
    virtual ~IDataElementVisitor() = default;

    virtual void VisitElement(const DataElement& element) noexcept = 0;

    virtual void VisitNestedElement(const DataElement&) noexcept
    {
    }
  };

  class IgnoringVisitor : public IDataElementVisitor
  {
  public:
    void VisitElement(const DataElement&) noexcept override
    {
    }
  };

  enum class WalkResult
  {
    Complete,
    Truncated,  // the bytes end inside an element
    Malformed,  // an element stands where none may
    TooLong     // given up: see MAXIMUM_STEPS and MAXIMUM_NESTING
  };

  // Walks over the structure of a data set in memory, down to the last nested item, and accepts
  // what DCMTK accepts (dcmdata's DcmItem, DcmSequenceOfItems, DcmPixelSequence::read). Lives on
  // the stack of one thread; allocates nothing.
  class DataSetWalker
  {
  public:
    // Sequences inside sequences; DCMTK's own limit, DCMTK_MAX_SEQUENCE_NESTING
    static constexpr std::size_t MAXIMUM_NESTING = 64;

    // Elements, items and fragments that are looked at: what a multi-frame object with thousands
    // of frames has, and about a millisecond
    static constexpr std::size_t MAXIMUM_STEPS = 1 << 18;

    DataSetWalker(const std::uint8_t* data, std::size_t size, std::size_t position) noexcept;

    // Guesses the encoding from the next element, as DCMTK does (DcmItem::checkTransferSyntax)
    DicomEncoding DetectEncoding() const noexcept;

    // That of the data set, of a deflated one once it is inflated. Guessed if DCMTK does not know
    // the transfer syntax; null: nobody does.
    DicomEncoding GetEncodingOf(const TransferSyntax* syntax) const noexcept;

    // Walks to the end of the File Meta Information, if there is one: DICOM PS3.10 section 7.1
    WalkResult WalkFileMeta(IDataElementVisitor& visitor) noexcept;

    // Walks to the end of the data set
    WalkResult WalkDataSet(const DicomEncoding& encoding, IDataElementVisitor& visitor) noexcept;

    bool IsAtEnd() const noexcept
    {
      return position_ == size_;
    }

    // Whether the bytes ended inside an item, a sequence or fragments, and DCMTK accepts that:
    // what is written behind them would be read as a part of it
    bool EndsInside() const noexcept
    {
      return endsInside_;
    }

    // Whether an element, of an item maybe, does not have a higher tag than the one before it, as
    // DICOM PS3.5 section 7.1 demands: it may be there twice, and DCMTK keeps the first of such. Or
    // that cannot be told of a private one, which begins like a sequence, and is none to its end.
    bool HasUnorderedElements() const noexcept
    {
      return hasUnorderedElements_;
    }

    const std::uint8_t* GetNext() const noexcept
    {
      return data_ + position_;
    }

    std::size_t GetRemaining() const noexcept
    {
      return size_ - position_;
    }

  private:
    enum class Level : std::uint8_t
    {
      FileMeta,
      DataSet,
      Item,
      Sequence
    };

    struct Frame
    {
      Level level;
      DicomEncoding encoding;
      std::uint32_t length;
      std::size_t start;
      DicomTag last = 0;  // that was read
    };

    WalkResult Walk(const Frame& root, IDataElementVisitor& visitor) noexcept;
    WalkResult ReadElement(IDataElementVisitor& visitor) noexcept;
    WalkResult ReadItem() noexcept;
    WalkResult ReadHeader(DataElement& element) noexcept;
    WalkResult ReadValue(DataElement& element, IDataElementVisitor& visitor) noexcept;
    WalkResult ReadDelimiter(const DataElement& element) noexcept;
    WalkResult ReadUndefinedLength(const DataElement& element) noexcept;
    WalkResult ReadFragments() noexcept;
    WalkResult ReadFileMetaLength(const DataElement& element) noexcept;

    bool IsItemComplete() noexcept;
    bool IsFileMetaNext() const noexcept;
    bool LooksLikeSequence(const DataElement& element) noexcept;
    bool IsPrivateSequence(std::uint32_t length) noexcept;
    bool IsTooLong() noexcept;
    WalkResult Enter(Level level, const DicomEncoding& encoding, std::uint32_t length) noexcept;

    std::uint16_t Read16(std::size_t offset, bool isBigEndian) const noexcept;
    std::uint32_t Read32(std::size_t offset, bool isBigEndian) const noexcept;
    DicomTag ReadTag(bool isBigEndian) const noexcept;

    const std::uint8_t* const data_;
    const std::size_t size_;
    std::size_t position_;
    std::size_t steps_ = 0;
    std::size_t depth_ = 0;
    bool endsInside_ = false;
    bool hasUnorderedElements_ = false;
    bool isInPrivate_ = false;      // walks over what may be a private sequence
    std::size_t endOfPrivate_ = 0;  // up to here, such a walk has found a sequence

    // The outermost level, then a sequence and an item for each nesting. Only frames below
    // "depth_" hold values: clearing all would cost more than the walk.
    std::array<Frame, 1 + 2 * MAXIMUM_NESTING> frames_;
  };
}
