// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Network/EventQueue.h"

namespace OrthancPerf
{
  // Put what ends on a connection into the queue, on the thread that has the connection. "outcome":
  // how the association ended; Released while it goes on.

  // The request under way is over, with its response or without one
  void FinishExchange(Connection& connection, AssociationOutcome outcome,
                      EventQueue& events) noexcept;

  // So is the C-STORE that Orthanc has sent as a sub-operation, if there is one. What the peer has
  // written since is the response.
  void FinishSubOperation(Connection& connection, AssociationOutcome outcome,
                          EventQueue& events) noexcept;

  // So is the request that reads, if there is one. Without an answer it is left out: the client is
  // gone.
  void FinishRead(Connection& connection, EventQueue& events) noexcept;

  // The connection is closed
  void FinishConnection(Connection& connection, TimePoint now, EventQueue& events) noexcept;

  // Orthanc has refused an instance before it asked a plugin
  void AddRefused(const Connection& connection, EventQueue& events) noexcept;

  // A call by this thread, and what came of it by now
  void AddCall(ProbeEvent::Kind kind, const Connection& connection, TimePoint now,
               EventQueue& events) noexcept;

  // The calling thread's former instance or request is over, whether it was taken or has failed
  void EndStorage() noexcept;
}
