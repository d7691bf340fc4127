// SPDX-License-Identifier: GPL-3.0-or-later
// Any bytes as what is read and written on connections, and when: in whatever pieces they come, the
// same associations and instances come out, of peers whose names are fit for metrics and JSON.
#include "Fuzz/Require.h"
#include "Network/ConnectionTracker.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using namespace OrthancPerf;

namespace
{
  constexpr std::uint16_t DICOM_PORT = 4242;
  constexpr std::uint16_t HTTP_PORT = 8042;
  constexpr std::uint16_t TLS_PORT = 2762;
  constexpr std::uint16_t CALLED_PORT = 104;  // of a modality, and of a peer
  constexpr int FD = 63;                      // no socket: the kernel knows nothing of it

  // Whether a text is fit for a label, a log and a page: what MakePrintable() promises
  bool IsFit(const std::string& text)
  {
    return text.size() <= MAXIMUM_PEER_NAME && IsPrintable(text);
  }

  // What came out, a line for each
  class Collector : public IJournalObserver
  {
  public:
    void OnInstanceFinished(const FinishedInstance& instance) override
    {
      Require(IsFit(instance.peer.name));
      lines_.push_back(instance.peer.name + " " + std::to_string(instance.size) + " " +
                       ToLabel(instance.outcome) + " " + instance.reason);
    }

    void OnAssociationFinished(const FinishedAssociation& association) override
    {
      const AssociationParties& parties = association.parties;
      Require(IsFit(association.peer.name) && IsFit(parties.callingTitle) &&
              IsFit(parties.calledTitle) && IsFit(parties.implementationVersion));
      isEncrypted_ = isEncrypted_ || association.outcome == AssociationOutcome::Encrypted ||
                     association.outcome == AssociationOutcome::TlsFailed;
      lines_.push_back(
          parties.callingTitle + ">" + parties.calledTitle + " " + parties.implementationVersion +
          " " + ToLabel(association.outcome) + " " + std::to_string(association.instances) + " " +
          std::to_string(association.bytesReceived) + " " + std::to_string(association.bytesSent));
    }

    const std::vector<std::string>& GetLines() const
    {
      return lines_;
    }

    // TLS is recognised by the begin of each piece
    bool IsEncrypted() const
    {
      return isEncrypted_;
    }

  private:
    std::vector<std::string> lines_;
    bool isEncrypted_ = false;
  };

  // For all inputs, as it takes megabytes, and as the plugin has one, too: what an earlier
  // connection has left in the place of its descriptor must not show
  struct Probed
  {
    Probed()
    {
      tracker.places = {DICOM_PORT, HTTP_PORT};
      tracker.events.SetDestinations({{"TLS", HashHost("::"), TLS_PORT, true, false},
                                      {"peer", HashHost("::"), CALLED_PORT, false, true}});
    }

    ConnectionTracker tracker;
  };

  // A connection after the other, by a script: each step is a byte that says what happens, how long
  // after the last one, and to how many bytes, which are the next ones
  class Scene
  {
  public:
    // "pieces": into how many each read and write falls
    Scene(Probed& probed, std::size_t pieces) : tracker_(probed.tracker), pieces_(pieces)
    {
    }

    void Play(const std::uint8_t* data, std::size_t size)
    {
      std::size_t position = 0;

      while (position + 2 <= size)
      {
        const std::uint8_t step = data[position];
        const std::size_t length = step % 4 == 3 ? 256U * data[position + 1] : data[position + 1];
        now_ += std::chrono::milliseconds(step / 16);
        position += 2;
        const std::size_t count = std::min(length, size - position);
        position += Act(step / 4 % 4, step % 4, data + position, count);
      }

      Close();
      tracker_.events.Drain(journal_);
      Require(tracker_.events.CountDropped() == 0);
    }

    const Collector& GetCollector() const
    {
      return collector_;
    }

  private:
    // How many of the bytes are used up
    std::size_t Act(unsigned int action, unsigned int variant, const std::uint8_t* data,
                    std::size_t count)
    {
      if (connection_ == nullptr)
      {
        Open(action);
        return 0;
      }

      switch (action)
      {
        case 0:
          Read(data, count);
          return count;
        case 1:
          Write(data, count);
          return count;
        case 2:
          Wait(variant);
          return 0;
        default:
          variant == 0 ? Close() : tracker_.events.Drain(journal_);
          return 0;
      }
    }

    void Open(unsigned int kind)
    {
      PeerAddress peer;
      peer.port = kind == 3 ? TLS_PORT : CALLED_PORT;
      isDicom_ = kind != 1;
      connection_ = kind < 2
                        ? tracker_.OnAccepted(FD, isDicom_ ? DICOM_PORT : HTTP_PORT, peer, now_)
                        : tracker_.OnConnecting(FD, peer, now_);
      isCandidate_ = kind >= 2;
      Require(connection_ != nullptr);
    }

    void Close()
    {
      if (connection_ != nullptr)
      {
        tracker_.OnClosing(*connection_, now_);
        connection_ = nullptr;
        tracker_.events.Drain(journal_);  // the ring has room for 2,048 events
      }
    }

    template <typename Function>
    void InPieces(const std::uint8_t* data, std::size_t count, const Function& function) const
    {
      // Interim responses of HTTP are told by their first bytes, or by their size
      const std::size_t pieces = isDicom_ ? pieces_ : 1;

      for (std::size_t i = 0; i < pieces; i++)
      {
        const std::size_t begin = i * count / pieces;
        function(data + begin, (i + 1) * count / pieces - begin);
      }
    }

    void Read(const std::uint8_t* data, std::size_t count)
    {
      if (!isCandidate_)
      {
        InPieces(data, count,
                 [this](const std::uint8_t* piece, std::size_t size)
                 { tracker_.OnRead(*connection_, piece, size, now_); });
      }
    }

    // As the hooks do it: the first bytes that Orthanc writes say whether it is DICOM
    void Write(const std::uint8_t* data, std::size_t count)
    {
      if (isCandidate_ && !tracker_.RecogniseOutgoing(*connection_, data, count, now_))
      {
        connection_ = nullptr;
        return;
      }

      isCandidate_ = false;
      isDicom_ = isDicom_ && !connection_->IsToPeer();

      // DCMTK writes the headers of a PDU and its first PDV as one, what follows as another
      constexpr std::size_t HEADERS = 12;
      const std::size_t first = pieces_ == 1 || !isDicom_ ? count : std::min(count, HEADERS);
      tracker_.OnWritten(*connection_, data, first, now_);
      tracker_.OnWritten(*connection_, data + first, count - first, now_);
    }

    void Wait(unsigned int variant)
    {
      const TimePoint from = now_;
      now_ += std::chrono::milliseconds(25);

      switch (variant)
      {
        case 0:
          tracker_.OnWaited(*connection_, from, now_);
          break;
        case 1:
          connection_->heldBackSince = from;
          break;
        case 2:
          ConnectionTracker::OnLetGo(*connection_, now_);
          connection_->isAwaited = true;
          break;
        default:
          connection_->isPeerGone = true;
      }
    }

    ConnectionTracker& tracker_;
    const std::size_t pieces_;
    Collector collector_;
    Journal journal_{{&collector_}};
    TimePoint now_{std::chrono::seconds(1)};
    Connection* connection_ = nullptr;
    bool isDicom_ = true;
    bool isCandidate_ = false;
  };
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
  static Probed probed;
  Scene whole(probed, 1);
  whole.Play(data, size);

  Scene pieces(probed, 3);
  pieces.Play(data, size);

  if (!whole.GetCollector().IsEncrypted() && !pieces.GetCollector().IsEncrypted())
  {
    Require(whole.GetCollector().GetLines() == pieces.GetCollector().GetLines());
  }

  return 0;
}
