// SPDX-License-Identifier: GPL-3.0-or-later
#include "Redirection/PluginLock.h"

#include "Redirection/CallerModule.h"

#include <future>
#include <gtest/gtest.h>
#include <pthread.h>
#include <stdexcept>

namespace OrthancPerf
{
  namespace
  {
    // Of a type of pthread_mutexattr_settype(3)
    class Mutex
    {
    public:
      explicit Mutex(int type)
      {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_settype(&attributes, type);
        pthread_mutex_init(&mutex_, &attributes);
        pthread_mutexattr_destroy(&attributes);
      }

      Mutex(const Mutex&) = delete;
      Mutex& operator=(const Mutex&) = delete;

      pthread_mutex_t* Get()
      {
        return &mutex_;
      }

      // Whether another thread gets it now
      bool IsFree()
      {
        const auto lock = [this]
        {
          const bool isFree = pthread_mutex_trylock(&mutex_) == 0;

          if (isFree)
          {
            pthread_mutex_unlock(&mutex_);
          }

          return isFree;
        };
        return std::async(std::launch::async, lock).get();
      }

    private:
      pthread_mutex_t mutex_;
    };

    // A server that locks through its own module, as Orthanc does
    class PluginLockOfServer : public testing::Test
    {
    protected:
      void Lock(Mutex& mutex)
      {
        ASSERT_EQ(0, lock_(mutex.Get()));
      }

      void Unlock(Mutex& mutex)
      {
        ASSERT_EQ(0, unlock_(mutex.Get()));
      }

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

      Mutex plain{PTHREAD_MUTEX_NORMAL};
      Mutex mutex{PTHREAD_MUTEX_RECURSIVE};
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
      EXPECT_TRUE(mutex.IsFree());
      throw std::runtime_error("no codec");
    }
    catch (const std::runtime_error&)
    {
      EXPECT_FALSE(mutex.IsFree());
    }

    Unlock(mutex);
    EXPECT_TRUE(mutex.IsFree());
    EXPECT_EQ(1U, lock.CountReleased());
    EXPECT_EQ(0U, lock.CountKept());
  }

  TEST_F(PluginLockOfServer, StaysWhereItIsHeldTwiceOrByAnotherThreadOrByNobody)
  {
    ASSERT_TRUE(Find());
    const auto release = [this]
    {
      const PluginLock::Release released(lock);
      return mutex.IsFree();
    };
    EXPECT_TRUE(release());
    EXPECT_TRUE(mutex.IsFree());
    Lock(mutex);
    EXPECT_FALSE(std::async(std::launch::async, release).get());
    Lock(mutex);
    EXPECT_FALSE(release());
    Unlock(mutex);
    EXPECT_FALSE(mutex.IsFree());
    Unlock(mutex);
    EXPECT_TRUE(mutex.IsFree());
    EXPECT_EQ(3U, lock.CountKept());
    EXPECT_EQ(0U, lock.CountReleased());
  }

  TEST_F(PluginLockOfServer, IsNotKnownIfTheServiceDoesNotTakeOneRecursiveMutexOnItsThread)
  {
    Mutex other(PTHREAD_MUTEX_RECURSIVE);
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
      EXPECT_FALSE(mutex.IsFree());
    }

    Unlock(mutex);
    EXPECT_EQ(1U, lock.CountKept());
  }
}
