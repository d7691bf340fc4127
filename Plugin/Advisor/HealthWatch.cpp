// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/HealthWatch.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>

namespace OrthancPerf
{
  struct HealthWatch::State
  {
    Part part;
    std::optional<TimePoint> askedAt = {};  // and not answered yet
    std::optional<TimePoint> answeredAt = {};
    std::string problem = {};  // by the latest answer

    // Whoever is unwell is asked sooner, but not as often as strangers look
    bool IsDue(TimePoint now) const
    {
      constexpr Duration SOON = std::chrono::seconds(1);
      const Duration period = problem.empty() ? part.period : std::min(SOON, part.period);
      return !askedAt && (!answeredAt || now - *answeredAt >= period);
    }
  };


  struct HealthWatch::States
  {
    std::mutex mutex;
    std::condition_variable answered;
    std::vector<State> all;  // as many as there are parts, always
  };


  HealthWatch::HealthWatch(const std::vector<Part>& parts, Duration longest) :
    longest_(longest),
    states_(std::make_shared<States>())
  {
    for (const Part& part : parts)
    {
      states_->all.push_back({part});
    }
  }


  std::vector<HealthWatch::Problem> HealthWatch::Look(Duration patience)
  {
    std::unique_lock<std::mutex> lock(states_->mutex);
    const TimePoint begin = Clock::now();

    for (State& state : states_->all)
    {
      if (state.IsDue(begin))
      {
        state.askedAt = begin;
        lock.unlock();
        Ask(state);
        lock.lock();
      }
    }

    states_->answered.wait_for(lock, patience,
                               [this]
                               {
                                 return std::none_of(states_->all.begin(), states_->all.end(),
                                                     [](const State& state)
                                                     { return state.askedAt.has_value(); });
                               });

    const TimePoint now = Clock::now();
    std::vector<Problem> problems;

    for (const State& state : states_->all)
    {
      if (const std::string problem = FindProblem(state, now); !problem.empty())
      {
        problems.push_back({state.part.name, problem});
      }
    }

    return problems;
  }


  void HealthWatch::Ask(State& state)
  {
    const auto answer = [states = states_, &state](const std::string& problem)
    {
      const std::lock_guard<std::mutex> lock(states->mutex);
      state.askedAt.reset();
      state.answeredAt = Clock::now();
      state.problem = problem;
      states->answered.notify_all();
    };

    try
    {
      state.part.ask(answer);
    }
    catch (const std::exception& error)
    {
      answer(error.what());
    }
  }


  std::string HealthWatch::FindProblem(const State& state, TimePoint now) const
  {
    if (state.askedAt && now - *state.askedAt >= longest_)
    {
      const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(now - *state.askedAt);
      return "no answer for " + std::to_string(seconds.count()) + " s";
    }

    const bool isKnown = state.answeredAt &&
                         (!state.askedAt || now - *state.answeredAt < state.part.period + longest_);
    return isKnown || !state.problem.empty() ? state.problem : "not known yet";
  }
}
