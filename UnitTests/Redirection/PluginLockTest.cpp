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

      ~Mutex()
      {
        pthread_mutex_destroy(&mutex_);
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

      // A service that takes the plugin lock, after a lock of another kind
      bool Find()
      {
        return lock.Find(
            [this]
            {
              Lock(plain);
              Unlock(plain);
              Lock(mutex);
              Unlock(mutex);
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

    {
      const PluginLock::Release release(lock);
      EXPECT_TRUE(mutex.IsFree());
    }

    EXPECT_FALSE(mutex.IsFree());
    Unlock(mutex);
    EXPECT_TRUE(mutex.IsFree());
    EXPECT_EQ(1U, lock.CountReleased());
    EXPECT_EQ(0U, lock.CountKept());
  }


  TEST_F(PluginLockOfServer, IsHeldAgainAfterAnException)
  {
    ASSERT_TRUE(Find());
    Lock(mutex);

    try
    {
      const PluginLock::Release release(lock);
      throw std::runtime_error("no codec");
    }
    catch (const std::runtime_error&)
    {
      EXPECT_FALSE(mutex.IsFree());
    }

    Unlock(mutex);
    EXPECT_TRUE(mutex.IsFree());
  }


  TEST_F(PluginLockOfServer, StaysWhereItIsHeldTwice)
  {
    ASSERT_TRUE(Find());
    Lock(mutex);
    Lock(mutex);

    {
      const PluginLock::Release release(lock);
      EXPECT_FALSE(mutex.IsFree());
    }

    Unlock(mutex);
    EXPECT_FALSE(mutex.IsFree());
    Unlock(mutex);
    EXPECT_TRUE(mutex.IsFree());
    EXPECT_EQ(1U, lock.CountKept());
  }


  TEST_F(PluginLockOfServer, StaysWhereAnotherThreadHoldsIt)
  {
    ASSERT_TRUE(Find());
    Lock(mutex);
    std::async(std::launch::async, [this] { const PluginLock::Release release(lock); }).get();
    EXPECT_FALSE(mutex.IsFree());
    Unlock(mutex);
    EXPECT_EQ(1U, lock.CountKept());
  }


  TEST_F(PluginLockOfServer, StaysWhereNobodyHoldsIt)
  {
    ASSERT_TRUE(Find());

    {
      const PluginLock::Release release(lock);
    }

    EXPECT_TRUE(mutex.IsFree());
    EXPECT_EQ(1U, lock.CountKept());
  }


  TEST_F(PluginLockOfServer, IsNotKnownIfTheServiceTakesNoRecursiveMutex)
  {
    EXPECT_FALSE(lock.Find(
        [this]
        {
          Lock(plain);
          Unlock(plain);
        }));
    EXPECT_FALSE(lock.IsKnown());
    EXPECT_NE("", lock.GetProblem());

    Lock(mutex);

    {
      const PluginLock::Release release(lock);
      EXPECT_FALSE(mutex.IsFree());
    }

    Unlock(mutex);
    EXPECT_EQ(1U, lock.CountKept());
  }


  TEST_F(PluginLockOfServer, IsNotKnownIfTheServiceTakesAnotherOneEachTime)
  {
    Mutex other(PTHREAD_MUTEX_RECURSIVE);
    bool isFirst = true;

    EXPECT_FALSE(lock.Find(
        [&]
        {
          Mutex& taken = isFirst ? mutex : other;
          isFirst = false;
          Lock(taken);
          Unlock(taken);
        }));
    EXPECT_FALSE(lock.IsKnown());
  }


  TEST_F(PluginLockOfServer, IsLookedForOnTheCallingThreadOnly)
  {
    EXPECT_FALSE(lock.Find(
        [this]
        {
          std::async(std::launch::async,
                     [this]
                     {
                       Lock(mutex);
                       Unlock(mutex);
                     })
              .get();
        }));
  }
}
