// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/Parties.h"

namespace OrthancPerf
{
  AssociationParties ToParties(const AssociateRequest& request)
  {
    const auto print = [](std::string_view text)
    {
      return MakePrintable(std::string(text));
    };

    AssociationParties parties;
    parties.callingTitle = print(request.callingTitle.View());
    parties.calledTitle = print(request.calledTitle.View());
    parties.implementationVersion = print(request.implementationVersionName.View());
    parties.maximumLength = request.maximumLength;
    return parties;
  }


  Peer ToPeer(const AssociateRequest& request, bool isReadable, bool isPeerRequestor,
              const PeerAddress& address)
  {
    const std::string text = address.ToString();

    if (!isReadable)
    {
      return Peer{{}, text};
    }

    const AssociationParties parties = ToParties(request);
    return Peer{isPeerRequestor ? parties.callingTitle : parties.calledTitle, text};
  }
}
