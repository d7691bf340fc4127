// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningReader.h"

#include "Dicom/TransferSyntax.h"

#include <gtest/gtest.h>

namespace OrthancPerf
{
  TEST(TuningFigures, AreNumbersForSwitchesBuffersAndChoices)
  {
    Tuning tuning;
    tuning.dicomSockets.receiveBuffer = SocketBuffer::MakeFixed(65536);
    tuning.dicomSockets.sendBuffer = SocketBuffer{SocketBuffer::Mode::Default};
    tuning.dicomSockets.tcpQuickAck = false;
    tuning.ingestTranscoding.engine = EngineChoice::Gdcm;

    const std::map<std::string, double> figures = ToFigures(tuning);
    EXPECT_EQ(1, figures.at("DicomSockets.TcpNoDelay"));
    EXPECT_EQ(0, figures.at("DicomSockets.TcpQuickAck"));
    EXPECT_EQ(65536, figures.at("DicomSockets.ReceiveBuffer"));
    EXPECT_EQ(-1, figures.at("DicomSockets.SendBuffer"));
    EXPECT_EQ(60, figures.at("DicomSockets.KeepAliveSeconds"));
    EXPECT_EQ(2, figures.at("DicomSockets.Preset"));
    EXPECT_EQ(2, figures.at("IngestTranscoding.Engine"));
    EXPECT_EQ(0, figures.at("IngestTranscoding.TransferSyntax"));
    EXPECT_EQ(90, figures.at("IngestTranscoding.LossyQuality"));
  }

  TEST(TuningFigures, TellWhatIsLossy)
  {
    Tuning tuning;
    tuning.ingestTranscoding.transferSyntax = TransferSyntaxUid::JPEG_LOSSLESS;
    EXPECT_EQ(1, ToFigures(tuning).at("IngestTranscoding.TransferSyntax"));
    tuning.ingestTranscoding.transferSyntax = TransferSyntaxUid::JPEG_BASELINE;
    EXPECT_EQ(2, ToFigures(tuning).at("IngestTranscoding.TransferSyntax"));
  }
}
