// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

namespace OrthancPerf
{
  // The children of a Prometheus family by number, so that counting needs neither label strings
  // nor the family's lock. A child is made when it is first used: what was never observed is
  // absent from the exposition, never zero. Owned by the class that owns the family; any thread
  // may call Get().
  template <typename Metric>
  class ChildCache
  {
  public:
    // Adds the child with that number to its family, or finds it there: two threads may ask at
    // once, and prometheus::Family::Add() gives both the same child.
    using Make = std::function<Metric&(std::size_t)>;

    ChildCache(std::size_t count, Make make) : children_(count), make_(std::move(make))
    {
    }

    Metric& Get(std::size_t number)
    {
      std::atomic<Metric*>& child = children_.at(number);

      if (Metric* known = child.load(std::memory_order_acquire))
      {
        return *known;
      }

      Metric& made = make_(number);
      child.store(&made, std::memory_order_release);
      return made;
    }

  private:
    std::vector<std::atomic<Metric*>> children_;
    const Make make_;
  };
}
