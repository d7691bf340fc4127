// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Messages/CommandField.h"

#include "Network/Messages/DimseMessages.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  namespace
  {
    std::optional<std::uint16_t> ReadField(const std::string& bytes)
    {
      CommandFieldReader reader;
      reader.Feed(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      return reader.Get();
    }
  }


  TEST(CommandField, IsReadFromACommandSet)
  {
    EXPECT_EQ(C_STORE_REQUEST, ReadField(MakeDimseCommand(0x0001)));
    EXPECT_EQ(0x0030, ReadField(MakeDimseCommand(0x0030)));
  }


  TEST(CommandField, IsReadFromPieces)
  {
    const std::string message = MakeDimseCommand(0x0001);
    CommandFieldReader reader;

    for (const char& byte : message)
    {
      reader.Feed(reinterpret_cast<const std::uint8_t*>(&byte), 1);
    }

    EXPECT_EQ(C_STORE_REQUEST, reader.Get());
    reader.Reset();
    EXPECT_FALSE(reader.Get());
  }


  TEST(CommandField, IsNotFoundBeforeItIsThere)
  {
    const std::string message = MakeDimseCommand(0x0001);
    const std::size_t end = message.find(std::string("\x00\x00\x00\x01\x02\x00\x00\x00", 8)) + 10;

    for (std::size_t size = 0; size < end; size++)
    {
      EXPECT_FALSE(ReadField(message.substr(0, size))) << size;
    }

    EXPECT_TRUE(ReadField(message.substr(0, end)));
  }


  TEST(CommandField, IsNotLookedForInOtherThings)
  {
    std::string dataSet = MakeDimseCommand(0x0001);
    dataSet[11] = 0;  // the message control header: not a command
    EXPECT_FALSE(ReadField(dataSet));

    std::string release = MakeDimseCommand(0x0001);
    release[0] = 5;
    EXPECT_FALSE(ReadField(release));
    EXPECT_FALSE(ReadField(std::string(200, '\xff')));
    EXPECT_FALSE(ReadField(std::string("\x04\x00\x00\x00\x00\x10\x00\x00\x00\x0c\x01\x03", 12) +
                           std::string(100, '\0')));
  }


  TEST(CommandField, ALengthThatLiesEndsTheSearch)
  {
    std::string message = MakeDimseCommand(0x0001);
    message.replace(16, 4, "\xff\xff\xff\xff");  // of the group length
    EXPECT_FALSE(ReadField(message));
  }


  TEST(CommandField, TheStatusIsReadToo)
  {
    const auto read = [](const std::string& bytes)
    {
      CommandFieldReader reader;
      reader.Feed(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
      return reader;
    };

    EXPECT_EQ(0xa700, read(MakeStoreResponse(0xa700)).GetStatus());
    EXPECT_FALSE(read(MakeStoreRequest("1.2.3.4")).GetStatus());

    // Cut off
    const std::string whole = MakeStoreResponse(0xa700);
    EXPECT_FALSE(read(whole.substr(0, whole.size() - 1)).GetStatus());
  }
}
