// SPDX-License-Identifier: GPL-3.0-or-later
#include "Answers/AnswerCompression.h"

#include "Dicom/DicomFileBuilder.h"

#include <gtest/gtest.h>

using namespace OrthancPerf;

namespace
{
  std::string MakeFile(const std::string& syntax)
  {
    return DicomFileBuilder::FileMeta(syntax) + std::string("\x08\0\x08\0", 4) + "rest";
  }

  bool IsCompressed(const std::string& file)
  {
    return IsCompressedMember(file.data(), file.size());
  }
}

TEST(AnswerCompression, TellsWhatIsCompressedAlreadyByItsTransferSyntax)
{
  for (const char* syntax : {"1.2.840.10008.1.2.4.70", "1.2.840.10008.1.2.4.90",
                             "1.2.840.10008.1.2.4.102", "1.2.840.10008.1.2.1.99"})
  {
    EXPECT_TRUE(IsCompressed(MakeFile(syntax))) << syntax;
    EXPECT_TRUE(IsCompressed(MakeFile(std::string(syntax) + '\0'))) << syntax;
  }

  for (const char* syntax : {"1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2",
                             "1.2.840.10008.1.2.5", "1.2.840.10008.1.2.1.98", "", "1.2.840.10008"})
  {
    EXPECT_FALSE(IsCompressed(MakeFile(syntax))) << syntax;
  }
}

TEST(AnswerCompression, TakesNothingElseForAMemberThatIsCompressed)
{
  const std::string file = MakeFile("1.2.840.10008.1.2.4.70");
  const std::size_t end = file.find("1.2.840") + 22;

  for (std::size_t size = 0; size < end; size++)
  {
    const std::string begin = file.substr(0, size);  // valgrind and sanitizers see what is beyond
    EXPECT_FALSE(IsCompressedMember(begin.data(), begin.size())) << size;
  }

  EXPECT_FALSE(IsCompressed(std::string(1000, 'x')));
  EXPECT_FALSE(IsCompressed(std::string(128, '\0') + "DICM" + std::string(1000, '\xff')));
  EXPECT_FALSE(IsCompressedMember(nullptr, 0));
}

TEST(AnswerCompression, LeavesEveryOtherStreamAlone)
{
  EXPECT_EQ(DeflatedAnswer::Archive, RecognizeAnswer(6, -15));
  EXPECT_EQ(DeflatedAnswer::Http, RecognizeAnswer(6, 31));
  EXPECT_EQ(DeflatedAnswer::Preview, RecognizeAnswer(-1, 15));
  EXPECT_EQ(DeflatedAnswer::Preview, RecognizeAnswer(-1, 8));

  EXPECT_FALSE(RecognizeAnswer(-1, -15));  // DCMTK's deflated transfer syntax
  EXPECT_FALSE(RecognizeAnswer(9, 31));    // to an Orthanc peer
  EXPECT_FALSE(RecognizeAnswer(6, 15));
  EXPECT_FALSE(RecognizeAnswer(0, -15));
}
