// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/PluginLock.h"

#include "Redirection/CallerModule.h"

#include <future>
#include <gtest/gtest.h>
#include <mutex>
#include <pthread.h>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    // Whether another thread gets it now
    template <typename Mutex>
    bool IsFree(Mutex& mutex)
    {
      const auto lock = [&mutex]
      {
        return std::unique_lock<Mutex>(mutex, std::try_to_lock).owns_lock();
      };
      return std::async(std::launch::async, lock).get();
    }

    // A server that locks through its own module, as Orthanc does
    class PluginLockOfServer : public testing::Test
    {
    protected:
      template <typename Mutex>
      void Lock(Mutex& mutex)
      {
        ASSERT_EQ(0, lock_(mutex.native_handle()));
      }

      template <typename Mutex>
      void Unlock(Mutex& mutex)
      {
        ASSERT_EQ(0, unlock_(mutex.native_handle()));
      }

      template <typename Mutex>
      void Take(Mutex& mutex)
      {
        Lock(mutex);
        Unlock(mutex);
      }

      // A service that takes the plugin lock, after a lock of another kind
      bool Find()
      {
        return lock.Find(
            [this]
            {
              Take(plain);
              Take(mutex);
            });
      }

      std::mutex plain;
      std::recursive_mutex mutex;
      PluginLock lock;

    private:
      CallerModule caller_;
      int (*const lock_)(pthread_mutex_t*) = caller_.Get<int(pthread_mutex_t*)>("CallerLock");
      int (*const unlock_)(pthread_mutex_t*) = caller_.Get<int(pthread_mutex_t*)>("CallerUnlock");
    };
  }

  TEST_F(PluginLockOfServer, IsReleasedAndHeldAgain)
  {
    ASSERT_TRUE(Find()) << lock.GetProblem();
    EXPECT_EQ("", lock.GetProblem());
    Lock(mutex);

    try
    {
      const PluginLock::Release release(lock);
      EXPECT_TRUE(IsFree(mutex));
      throw std::runtime_error("no codec");
    }
    catch (const std::runtime_error&)
    {
      EXPECT_FALSE(IsFree(mutex));
    }

    Unlock(mutex);
    EXPECT_TRUE(IsFree(mutex));
    EXPECT_EQ(1U, lock.CountReleased());
    EXPECT_EQ(0U, lock.CountKept());
  }

  TEST_F(PluginLockOfServer, StaysWhereItIsHeldTwiceOrByAnotherThreadOrByNobody)
  {
    ASSERT_TRUE(Find());
    const auto release = [this]
    {
      const PluginLock::Release released(lock);
      return IsFree(mutex);
    };
    EXPECT_TRUE(release());
    EXPECT_TRUE(IsFree(mutex));
    Lock(mutex);
    EXPECT_FALSE(std::async(std::launch::async, release).get());
    Lock(mutex);
    EXPECT_FALSE(release());
    Unlock(mutex);
    EXPECT_FALSE(IsFree(mutex));
    Unlock(mutex);
    EXPECT_TRUE(IsFree(mutex));
    EXPECT_EQ(3U, lock.CountKept());
    EXPECT_EQ(0U, lock.CountReleased());
  }

  TEST_F(PluginLockOfServer, IsNotKnownIfTheServiceDoesNotTakeOneRecursiveMutexOnItsThread)
  {
    std::recursive_mutex other;
    bool isFirst = true;
    EXPECT_FALSE(lock.Find([&] { Take(plain); }));
    EXPECT_FALSE(lock.IsKnown());
    EXPECT_NE("", lock.GetProblem());
    EXPECT_FALSE(lock.Find(
        [&]
        {
          Take(isFirst ? mutex : other);
          isFirst = false;
        }));
    EXPECT_FALSE(lock.IsKnown());
    EXPECT_FALSE(lock.Find([&] { std::async(std::launch::async, [&] { Take(mutex); }).get(); }));

    Lock(mutex);

    {
      const PluginLock::Release release(lock);
      EXPECT_FALSE(IsFree(mutex));
    }

    Unlock(mutex);
    EXPECT_EQ(1U, lock.CountKept());
  }
}
