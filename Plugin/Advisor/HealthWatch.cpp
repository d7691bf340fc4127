// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HealthWatch.h"

#include <algorithm>
#include <exception>

namespace OrthancPerf
{
  HealthWatch::HealthWatch(const std::vector<Part>& parts, Duration longest) : longest_(longest)
  {
    for (const Part& part : parts)
    {
      State& state = states_.emplace_back();
      state.part = part;
    }
  }


  std::vector<HealthWatch::Problem> HealthWatch::Look(Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);
    const TimePoint begin = Clock::now();

    for (State& state : states_)
    {
      state.isWanted = state.isWanted || IsDue(state, begin);
    }

    wanted_.notify_all();
    answered_.wait_for(lock, patience, [this] { return IsAnswered(); });

    const TimePoint now = Clock::now();
    std::vector<Problem> problems;

    for (const State& state : states_)
    {
      if (const std::string problem = FindProblem(state, now); !problem.empty())
      {
        problems.push_back({state.part.name, problem});
      }
    }

    return problems;
  }


  std::string HealthWatch::FindProblem(const State& state, TimePoint now) const
  {
    if (state.askedAt && now - *state.askedAt >= longest_)
    {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - *state.askedAt);
      return "no answer for " + std::to_string(seconds.count()) + " s";
    }

    const bool isKnown = state.answeredAt && (!state.isWanted || now - *state.answeredAt <
                                                                     state.part.period + longest_);
    return isKnown || !state.problem.empty() ? state.problem : "not known yet";
  }


  void HealthWatch::AskNext(Duration patience)
  {
    std::unique_lock<std::mutex> lock(mutex_);

    if (!wanted_.wait_for(lock, patience, [this] { return FindWanted() != nullptr; }))
    {
      return;
    }

    State& state = *FindWanted();
    state.askedAt = Clock::now();
    lock.unlock();

    std::string problem;

    try
    {
      problem = state.part.ask();
    }
    catch (const std::exception& error)
    {
      problem = error.what();
    }

    lock.lock();
    state.isWanted = false;
    state.askedAt.reset();
    state.answeredAt = Clock::now();
    state.problem = problem;
    answered_.notify_all();
  }


  // Whoever is unwell is asked sooner, but not as often as strangers look
  bool HealthWatch::IsDue(const State& state, TimePoint now)
  {
    constexpr Duration SOON = std::chrono::seconds(1);

    return !state.answeredAt ||
           now - *state.answeredAt >=
               (state.problem.empty() ? state.part.period : std::min(SOON, state.part.period));
  }


  // Who was answered the longest time ago, and is not being asked
  HealthWatch::State* HealthWatch::FindWanted()
  {
    State* found = nullptr;

    for (State& state : states_)
    {
      if (state.isWanted && !state.askedAt &&
          (found == nullptr || state.answeredAt < found->answeredAt))
      {
        found = &state;
      }
    }

    return found;
  }


  bool HealthWatch::IsAnswered() const
  {
    return std::none_of(states_.begin(), states_.end(),
                        [](const State& state) { return state.isWanted; });
  }
}
