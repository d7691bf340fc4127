// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/DimseReader.h"

#include "Network/Messages/DimseMessages.h"

#include <gtest/gtest.h>
#include <string_view>
#include <vector>

namespace OrthancPerf
{
  namespace
  {
    // The types of the PDUs that begin in these bytes
    std::vector<PduType> Feed(DimseReader& reader, std::string_view bytes, TimePoint now = {})
    {
      std::vector<PduType> found;
      reader.Feed(
          reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), now,
          [&found](PduType type) { found.push_back(type); }, [] {});
      return found;
    }

    DimseReader Read(std::string_view bytes)
    {
      DimseReader reader;
      Feed(reader, bytes);
      return reader;
    }

    std::optional<std::uint16_t> ReadField(std::string_view bytes)
    {
      return Read(bytes).GetCommand();
    }
  }

  TEST(DimseReader, ReadsTheCommandFieldAsSoonAsItIsThere)
  {
    EXPECT_EQ(0x0030, ReadField(MakeDimseCommand(0x0030)));
    const std::string message = MakeDimseCommand(0x0001);
    const std::size_t end = message.find(std::string("\x00\x00\x00\x01\x02\x00\x00\x00", 8)) + 10;
    DimseReader reader;

    for (std::size_t size = 1; size <= message.size(); size++)
    {
      const std::optional<std::uint16_t> expected =
          size < end ? std::nullopt : std::make_optional(C_STORE_REQUEST);
      Feed(reader, {&message[size - 1], 1});
      EXPECT_EQ(expected, reader.GetCommand()) << size;
      EXPECT_EQ(expected, ReadField(message.substr(0, size))) << size;
    }

    reader.Forget();
    EXPECT_FALSE(reader.GetCommand());
    EXPECT_FALSE(ReadField(""));
  }

  TEST(DimseReader, DoesNotLookForItInOtherThings)
  {
    const auto change = [](std::size_t place, const std::string& bytes)
    {
      return MakeDimseCommand(0x0001).replace(place, bytes.size(), bytes);
    };

    for (const std::string& message :
         {change(11, std::string(1, '\0')),  // the message control header: not a command
          change(0, "\5"),                   // A-RELEASE-RQ
          change(16, "\xff\xff\xff\xff"),    // the group length
          change(12, "\b"),                  // the first element is of another group
          std::string(200, '\xff'),
          std::string("\x04\x00\x00\x00\x00\x10\x00\x00\x00\x0c\x01\x03", 12) +
              std::string(100, '\0')})
    {
      EXPECT_FALSE(ReadField(message)) << message;
    }
  }

  TEST(DimseReader, ReadsTheStatusToo)
  {
    EXPECT_EQ(0xa700, Read(MakeStoreResponse(0xa700)).GetStatus());
    EXPECT_FALSE(Read(MakeStoreRequest("1.2.3.4")).GetStatus());

    // Cut off
    const std::string whole = MakeStoreResponse(0xa700);
    EXPECT_FALSE(Read(whole.substr(0, whole.size() - 1)).GetStatus());
  }

  TEST(DimseReader, FindsEachPduWhateverTheReadsAre)
  {
    const std::string stream = MakeAssociateRequest("PACS", "CT") + MakeDataSet(1000) +
                               MakePdu(4, "") + MakePdu(4, "123") + MakePdu(5, "1234") +
                               MakePdu(7, "abrt");
    const std::vector<PduType> all = {
        PduType::AssociateRequest, PduType::Data, PduType::Data, PduType::Data,
        PduType::ReleaseRequest,   PduType::Abort};

    for (std::size_t piece = 1; piece < 50; piece++)
    {
      DimseReader reader;
      std::vector<PduType> types;

      for (std::size_t i = 0; i < stream.size(); i += piece)
      {
        const std::vector<PduType> found = Feed(reader, stream.substr(i, piece));
        types.insert(types.end(), found.begin(), found.end());
      }

      EXPECT_EQ(all, types);
      EXPECT_EQ((PduBody{'a', 'b', 'r', 't'}), reader.GetBody());
    }
  }

  TEST(DimseReader, StopsAtWhatIsNotDicom)
  {
    DimseReader reader;
    EXPECT_TRUE(Feed(reader, "\x16\x03\x01\x02\x03\x04\x01\x01\x01\x01\x01\x01").empty());
    EXPECT_TRUE(reader.IsLost());
  }

  TEST(DimseReader, AMessageHasItsSizeAndItsTimes)
  {
    const TimePoint begin(std::chrono::seconds(1));
    const TimePoint end(std::chrono::seconds(2));
    const std::string request = MakeStoreRequest("1.2.3");
    DimseReader reader;
    Feed(reader, MakeStoreResponse(0), {});
    Feed(reader, request + MakeDataSet(100), begin);
    Feed(reader, MakeDataSet(50), end);
    Feed(reader, MakePdu(7, "abrt"), end + std::chrono::seconds(1));
    EXPECT_EQ(C_STORE_REQUEST, reader.GetCommand());
    EXPECT_EQ(begin, reader.GetFirstByte());
    EXPECT_EQ(end, reader.GetLastByte());
    EXPECT_EQ(request.size() + 12 + 100 + 12 + 50, reader.GetSize());
    EXPECT_TRUE(reader.HasDataSet());
  }

  TEST(DimseReader, ACommandSetInTwoPdusIsOne)
  {
    const std::string command =
        MakeStoreRequest("1.2.3").substr(12);           // without PDU and PDV headers
    const std::size_t middle = command.size() / 4 * 3;  // behind the Command Field
    const std::string bytes = MakeDataPdu(1, command.substr(0, middle)) +
                              MakeDataPdu(3, command.substr(middle)) + MakeDimseCommand(0x0fff);
    DimseReader reader;
    int begun = 0;
    reader.Feed(
        reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size(), {}, [](PduType) {},
        [&] { begun++; });
    EXPECT_EQ(2, begun);
    EXPECT_EQ(0x0fff, reader.GetCommand());
  }
}
