// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/histogram.h>
#include <prometheus/labels.h>

#include <atomic>
#include <cstddef>
#include <functional>
#include <vector>

namespace OrthancPerf
{
  // The children of a Prometheus family by number, so that counting needs neither label strings
  // nor the family's lock. A child is made when it is first asked for: until then it is
  // absent from the exposition, rather than zero. Owned by the class that owns the family; any
  // thread may call Get().
  template <typename Metric>
  class ChildCache
  {
  public:
    // The labels of the child with that number
    using MakeLabels = std::function<prometheus::Labels(std::size_t)>;

    // The family outlives the cache, which needs its further arguments for each child: a
    // histogram's buckets
    template <typename... Arguments>
    ChildCache(prometheus::Family<Metric>& family, std::size_t count, MakeLabels makeLabels,
               Arguments... arguments) :
      children_(count),
      make_([=, &family](std::size_t number) -> Metric&
            { return family.Add(makeLabels(number), arguments...); })
    {
    }

    Metric& Get(std::size_t number) const
    {
      std::atomic<Metric*>& child = children_.at(number);

      if (Metric* known = child.load(std::memory_order_acquire))
      {
        return *known;
      }

      Metric& made = make_(number);  // two threads that ask at once are given the same child
      child.store(&made, std::memory_order_release);
      return made;
    }

  private:
    mutable std::vector<std::atomic<Metric*>> children_;
    const std::function<Metric&(std::size_t)> make_;
  };
}
