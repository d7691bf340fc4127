// SPDX-License-Identifier: GPL-3.0-or-later
#include "Ingest/FinishedInstance.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr std::array<const char*, ORIGIN_COUNT> ORIGIN_LABELS = {
        "Unknown", "DicomProtocol", "RestApi", "Plugin", "Lua", "WebDav"};

    constexpr std::array<const char*, OUTCOME_COUNT> OUTCOME_LABELS = {"stored", "discarded",
                                                                       "failed"};
  }


  const std::array<Origin, ORIGIN_COUNT>& GetAllOrigins()
  {
    static const std::array<Origin, ORIGIN_COUNT> ALL = {Origin::Unknown, Origin::DicomProtocol,
                                                         Origin::RestApi, Origin::Plugin,
                                                         Origin::Lua,     Origin::WebDav};
    return ALL;
  }


  const char* ToLabel(Origin origin)
  {
    return ORIGIN_LABELS.at(static_cast<std::size_t>(origin));
  }


  std::optional<Origin> ParseOrigin(const std::string& label)
  {
    for (const Origin origin : GetAllOrigins())
    {
      if (label == ToLabel(origin))
      {
        return origin;
      }
    }

    return std::nullopt;
  }


  const std::array<Outcome, OUTCOME_COUNT>& GetAllOutcomes()
  {
    static const std::array<Outcome, OUTCOME_COUNT> ALL = {Outcome::Stored, Outcome::Discarded,
                                                           Outcome::Failed};
    return ALL;
  }


  const char* ToLabel(Outcome outcome)
  {
    return OUTCOME_LABELS.at(static_cast<std::size_t>(outcome));
  }


  const std::array<Direction, DIRECTION_COUNT>& GetAllDirections()
  {
    static const std::array<Direction, DIRECTION_COUNT> ALL = {Direction::Receive, Direction::Send};
    return ALL;
  }


  const char* ToLabel(Direction direction)
  {
    return direction == Direction::Receive ? "receive" : "send";
  }


  std::string MakePrintable(const std::string& text)
  {
    const std::size_t begin = text.find_first_not_of(' ');

    if (begin == std::string::npos)
    {
      return {};
    }

    const std::size_t end = text.find_last_not_of(' ') + 1;
    std::string printable = text.substr(begin, std::min(end - begin, MAXIMUM_PEER_NAME));

    for (char& c : printable)
    {
      if (c < 0x20 || c > 0x7e)
      {
        c = '?';
      }
    }

    return printable;
  }
}
