// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningFigures.h"

namespace OrthancPerf
{
  namespace
  {
    double ToFigure(const SocketBuffer& buffer)
    {
      switch (buffer.mode)
      {
        case SocketBuffer::Mode::Fixed:
          return static_cast<double>(buffer.bytes);

        case SocketBuffer::Mode::Automatic:
          return 0;

        default:
          return -1;
      }
    }


    double ToFigure(bool isOn)
    {
      return isOn ? 1 : 0;
    }


    double ToFigure(std::chrono::seconds duration)
    {
      return static_cast<double>(duration.count());
    }
  }


  std::map<std::string, double> ToFigures(const Tuning& tuning)
  {
    const DicomSockets& sockets = tuning.dicomSockets;
    const IngestTranscoding& transcoding = tuning.ingestTranscoding;

    return {
        {"DicomSockets.Preset", static_cast<double>(FindPreset(sockets))},
        {"DicomSockets.TcpNoDelay", ToFigure(sockets.tcpNoDelay)},
        {"DicomSockets.TcpQuickAck", ToFigure(sockets.tcpQuickAck)},
        {"DicomSockets.ReceiveBuffer", ToFigure(sockets.receiveBuffer)},
        {"DicomSockets.SendBuffer", ToFigure(sockets.sendBuffer)},
        {"DicomSockets.KeepAliveSeconds", ToFigure(sockets.keepAlive)},
        {"DicomSockets.UserTimeoutSeconds", ToFigure(sockets.userTimeout)},
        {"IngestTranscoding.TransferSyntax", ToFigure(!transcoding.transferSyntax.empty())},
        {"IngestTranscoding.Engine", static_cast<double>(transcoding.engine)},
        {"IngestTranscoding.Verify", ToFigure(transcoding.verify)},
        {"IngestTranscoding.LossyQuality", static_cast<double>(transcoding.lossyQuality)},
        {"IngestTranscoding.OfCompressed", ToFigure(transcoding.ofCompressed)},
        {"IngestTranscoding.OrthancTranscoding", ToFigure(transcoding.orthancTranscoding)},
    };
  }
}
