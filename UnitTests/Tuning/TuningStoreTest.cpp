// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningStore.h"

#include "Threads.h"
#include "Tuning/JsonValues.h"
#include "Tuning/TuningReader.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <stdexcept>
#include <thread>

using namespace OrthancPerf;

namespace
{
  using WallTime = std::chrono::system_clock::time_point;

  // What has Load() and Save()
  template <typename Persistence>
  TuningPersistence Use(Persistence& persistence)
  {
    return {[&persistence] { return persistence.Load(); },
            [&persistence](const std::string& text)
            {
              persistence.Save(text);
            }};
  }

  // Orthanc's database, which may not answer
  struct Database
  {
    std::optional<std::string> Load() const
    {
      RequireAnswer();
      return saved;
    }

    void Save(const std::string& text)
    {
      RequireAnswer();
      (text.empty() ? clears : saves)++;
      saved = text.empty() ? std::nullopt : std::make_optional(text);
    }

    void RequireAnswer() const
    {
      if (isBroken)
      {
        throw std::runtime_error("no such table");
      }
    }

    std::optional<std::string> saved;
    bool isBroken = false;
    int saves = 0;
    int clears = 0;
  };

  class TuningStoreTest : public ::testing::Test
  {
  protected:
    // Keeps what it is told. The store serializes the calls.
    TuningObserver MakeObserver()
    {
      return [this](const Tuning& tuning)
      {
        told_.push_back(tuning);
      };
    }

    // A server before this one had saved a change
    void SaveBefore(const std::string& patch)
    {
      TuningStore(Tuning(), Use(database_), {}).Merge(Parse(patch));
    }

    static bool IsStock(const TuningStore& store)
    {
      return FindPreset(store.Get()->dicomSockets) == SocketPreset::Stock;
    }

    Database database_;
    std::vector<Tuning> told_;
  };

  const char* const STOCK = R"({"DicomSockets": {"Preset": "stock"}})";
  const char* const DELAYED = R"({"DicomSockets": {"TcpNoDelay": false}})";
  const char* const VERIFY = R"({"IngestTranscoding": {"Verify": true}})";
}

// Saving may take as long as a database hangs
TEST_F(TuningStoreTest, AChangeIsLoggedOnceItIsInForceAndBeforeItIsSaved)
{
  std::unique_ptr<TuningStore> store;
  int told = 0;
  store = std::make_unique<TuningStore>(Tuning(), Use(database_), TuningObserver(), TuningCheck(),
                                        [&](const std::string&)
                                        {
                                          told++;
                                          EXPECT_EQ(told == 1, IsStock(*store));
                                          EXPECT_EQ(told == 2, database_.saved.has_value());
                                        });
  store->Merge(Parse(STOCK));
  store->Merge(Parse(STOCK));  // nothing new
  store->Reset();
  EXPECT_EQ(2, told);
  EXPECT_FALSE(database_.saved.has_value());
}

TEST_F(TuningStoreTest, MergesAndTellsAndAResetReturnsToTheConfiguration)
{
  TuningStore store(Tuning(), Use(database_), MakeObserver());
  store.Announce();
  const TuningOutcome outcome = store.Merge(Parse(STOCK));
  EXPECT_EQ(SocketPreset::Stock, FindPreset(outcome.tuning->dicomSockets));
  EXPECT_EQ(outcome.tuning, store.Get());
  EXPECT_TRUE(outcome.warnings.empty());
  EXPECT_EQ(Tuning(), *store.Reset().tuning);
  EXPECT_EQ(std::vector<Tuning>({Tuning(), *outcome.tuning, Tuning()}), told_);
  EXPECT_EQ(std::nullopt, database_.saved);
}

TEST_F(TuningStoreTest, BadInputChangesNothing)
{
  TuningStore store(Tuning(), Use(database_), MakeObserver());

  for (const char* patch :
       {R"({"DicomSockets": {"TcpNoDelay": false, "TcpQuickAck": 0}})",
        R"({"DicomSockets": {"TcpNoDelay": false}, "IngestTranscoding": {"Engine": "x"}})",
        R"({"DicomSockets": {"TcpNoDelay": false}, "Unknown": 1})", "[]"})
  {
    EXPECT_THROW(store.Merge(Parse(patch)), SettingError) << patch;
  }

  EXPECT_EQ(Tuning(), *store.Get());
  EXPECT_TRUE(store.GetOverrides().empty());
  EXPECT_TRUE(told_.empty());
  EXPECT_EQ(0, database_.saves);
}

TEST_F(TuningStoreTest, NullTakesAKeyASectionOrAPresetBackToTheConfiguration)
{
  Tuning configured;
  configured.dicomSockets.keepAlive = std::chrono::seconds(5);
  configured.dicomSockets.tcpQuickAck = false;

  for (const char* reset : {R"({"DicomSockets": null})", R"({"DicomSockets": {"Preset": null}})"})
  {
    TuningStore store(configured, std::nullopt, {});
    EXPECT_TRUE(store.Load().warnings.empty());  // there is nothing to load
    store.Merge(Parse(STOCK));
    store.Merge(Parse(reset));
    EXPECT_EQ(configured, *store.Get()) << reset;
    EXPECT_TRUE(store.GetOverrides().empty()) << reset;

    store.Merge(Parse(R"({"DicomSockets": {"KeepAliveSeconds": 7, "TcpNoDelay": false}})"));
    store.Merge(Parse(R"({"DicomSockets": {"KeepAliveSeconds": null}})"));
    EXPECT_EQ(5, store.Get()->dicomSockets.keepAlive.count());
    EXPECT_FALSE(store.Get()->dicomSockets.tcpNoDelay);
  }
}

TEST_F(TuningStoreTest, WhatIsInForceAlreadyIsNeitherToldNorSavedAgain)
{
  TuningStore store(Tuning(), Use(database_), MakeObserver());
  store.Merge(Parse("{}"));
  EXPECT_EQ(0, database_.saves + database_.clears);

  for (const char* patch :
       {STOCK, R"({"DicomSockets": {"SendBuffer": 123456, "CongestionControl": "bbr"}})"})
  {
    told_.clear();
    database_.saves = 0;
    store.Merge(Parse(patch));
    store.Merge(Parse(patch));
    EXPECT_EQ(1, database_.saves);
    const Tuning before = *store.Get();
    store.Merge(ToJson(before));
    EXPECT_EQ(std::vector<Tuning>({before}), told_) << patch;
  }

  store.Merge(Parse(R"({"DicomSockets": null, "IngestTranscoding": null, "Memory": null,
                        "Answers": null, "Storage": null})"));
  EXPECT_EQ(1, database_.clears);
}

TEST_F(TuningStoreTest, ChangesSurviveARestart)
{
  SaveBefore(STOCK);
  Tuning configured;
  configured.ingestTranscoding.verify = true;
  TuningStore store(configured, Use(database_), MakeObserver());
  EXPECT_EQ(configured, *store.Get());
  EXPECT_TRUE(store.Load().warnings.empty());
  EXPECT_TRUE(IsStock(store));
  EXPECT_TRUE(store.Get()->ingestTranscoding.verify);
  store.Load();
  EXPECT_EQ(1u, told_.size());

  // Also if they are loaded after a change, but not after a reset
  TuningStore early(Tuning(), Use(database_), {});
  early.Merge(Parse(VERIFY));
  early.Load();
  EXPECT_TRUE(IsStock(early));
  EXPECT_TRUE(early.Get()->ingestTranscoding.verify);

  TuningStore reset(Tuning(), Use(database_), {});
  reset.Reset();
  reset.Load();
  EXPECT_EQ(Tuning(), *reset.Get());
  EXPECT_EQ(std::nullopt, database_.saved);
}

TEST_F(TuningStoreTest, UnreadableSavedDataIsIgnoredWithAWarning)
{
  for (const char* text : {"{", "[]", "\x01\xff", R"({"DicomSockets": {"TcpNoDelay": 7}})",
                           R"({"DicomSockets": "stock"})"})
  {
    database_.saved = text;
    TuningStore store(Tuning(), Use(database_), MakeObserver());
    const TuningOutcome outcome = store.Load();
    EXPECT_EQ(1u, outcome.warnings.size()) << text;
    EXPECT_EQ(Tuning(), *outcome.tuning) << text;
    EXPECT_TRUE(told_.empty()) << text;
    EXPECT_EQ(text, database_.saved);

    EXPECT_TRUE(store.Reset().warnings.empty());
    EXPECT_EQ(std::nullopt, database_.saved);
  }
}

TEST_F(TuningStoreTest, SavedValuesOfAnotherVersionAreLeftOutAndTheOthersKept)
{
  database_.saved = R"({"IngestTranscoding": {"Engine": "quantum", "Verify": true},
                       "Memory": {"IngestBudget": "25%"}, "DicomSockets": 7})";
  TuningStore store(Tuning(), Use(database_), {});
  const TuningOutcome outcome = store.Load();
  ASSERT_EQ(2u, outcome.warnings.size());
  EXPECT_NE(std::string::npos, outcome.warnings[0].find("SavedTuning.DicomSockets is 7"));
  EXPECT_NE(std::string::npos,
            outcome.warnings[1].find("SavedTuning.IngestTranscoding.Engine is \"quantum\""));
  EXPECT_TRUE(outcome.tuning->ingestTranscoding.verify);
  EXPECT_EQ("25%", ToJson(*outcome.tuning)["Memory"]["IngestBudget"].asString());
  EXPECT_FALSE(store.IsUnsaved());  // as nobody has changed it

  store.Merge(Parse(STOCK));
  EXPECT_EQ("25%", Parse(*database_.saved)["Memory"]["IngestBudget"].asString());
}

TEST_F(TuningStoreTest, AChangeThatCannotBeSavedIsInForceAndUnsavedUntilOneIsSaved)
{
  TuningStore store(Tuning(), Use(database_), MakeObserver());
  EXPECT_TRUE(store.Load().warnings.empty());
  EXPECT_FALSE(store.IsUnsaved());
  database_.isBroken = true;
  const TuningOutcome outcome = store.Merge(Parse(STOCK));
  ASSERT_EQ(1u, outcome.warnings.size());
  EXPECT_NE(std::string::npos, outcome.warnings[0].find("could not be saved"));
  EXPECT_NE(std::string::npos, outcome.warnings[0].find("no such table"));
  EXPECT_TRUE(IsStock(store));
  EXPECT_EQ(1u, told_.size());
  EXPECT_TRUE(store.IsUnsaved());
  EXPECT_THROW(store.Merge(Parse("[]")), SettingError);
  EXPECT_TRUE(store.IsUnsaved());

  database_.isBroken = false;
  EXPECT_TRUE(store.Merge(Parse("{}")).warnings.empty());
  EXPECT_TRUE(store.IsUnsaved());
  EXPECT_TRUE(store.Merge(Parse(STOCK)).warnings.empty());
  EXPECT_FALSE(store.IsUnsaved());
  EXPECT_EQ(1, database_.saves);

  database_.isBroken = true;
  store.Reset();
  EXPECT_TRUE(store.IsUnsaved());
  database_.isBroken = false;
  store.Reset();
  EXPECT_FALSE(store.IsUnsaved());
}

// A change that does harm must be taken back also while the database hangs
TEST_F(TuningStoreTest, NoChangeWaitsUntilAnEarlierOneIsSaved)
{
  struct Hanging
  {
    std::optional<std::string> Load()
    {
      return std::nullopt;
    }

    void Save(const std::string& text)
    {
      if (saved.empty())
      {
        began.set_value();
      }

      saved = text;
      answered.wait();
    }

    std::string saved;
    std::promise<void> began;
    std::promise<void> answer;
    std::shared_future<void> answered = answer.get_future().share();
  };

  Hanging persistence;
  std::promise<void> inForce;
  TuningStore store(Tuning(), Use(persistence),
                    [&](const Tuning& tuning)
                    {
                      if (tuning.dicomSockets.keepAlive == std::chrono::seconds(71))
                      {
                        inForce.set_value();
                      }
                    });
  std::thread first([&] { store.Merge(Parse(STOCK)); });
  persistence.began.get_future().wait();
  EXPECT_TRUE(store.IsUnsaved());

  std::thread second([&] { store.Merge(Parse(R"({"DicomSockets": {"KeepAliveSeconds": 71}})")); });
  inForce.get_future().wait();
  EXPECT_EQ(std::chrono::seconds(71), store.Get()->dicomSockets.keepAlive);
  EXPECT_TRUE(store.IsUnsaved());

  persistence.answer.set_value();
  first.join();
  second.join();
  EXPECT_FALSE(store.IsUnsaved());
  EXPECT_NE(std::string::npos, persistence.saved.find("71"));
  EXPECT_NE(std::string::npos, persistence.saved.find("TcpNoDelay"));
}

TEST_F(TuningStoreTest, NothingIsChangedUntilTheSavedIsLoadedButAResetTakesBackAll)
{
  database_.saved = DELAYED;
  database_.isBroken = true;
  TuningStore store(Tuning(), Use(database_), {});
  EXPECT_EQ(1u, store.Load().warnings.size());
  EXPECT_THROW(store.Merge(Parse(STOCK)), std::runtime_error);
  EXPECT_EQ(Tuning(), *store.Merge(Parse("{}")).tuning);
  EXPECT_FALSE(store.IsLoaded());
  EXPECT_FALSE(store.IsUnsaved());
  EXPECT_EQ(Tuning(), *store.Get());
  TuningStore reset(Tuning(), Use(database_), {});
  reset.Reset();
  EXPECT_TRUE(reset.IsUnsaved());

  database_.isBroken = false;
  EXPECT_TRUE(store.Load().warnings.empty());
  EXPECT_FALSE(store.Get()->dicomSockets.tcpNoDelay);
  EXPECT_TRUE(store.Merge(Parse(VERIFY)).warnings.empty());
  EXPECT_EQ(MergeJson(Parse(DELAYED), Parse(VERIFY)), Parse(*database_.saved));
  EXPECT_TRUE(reset.Merge(Parse(VERIFY)).warnings.empty());
  EXPECT_EQ(Parse(VERIFY), Parse(*database_.saved));
}

TEST_F(TuningStoreTest, ConcurrentChangesLoseNothing)
{
  const std::vector<std::string> patches = {DELAYED,
                                            R"({"DicomSockets": {"ReceiveBuffer": 65536}})",
                                            R"({"DicomSockets": {"KeepAliveSeconds": 9}})", VERIFY,
                                            R"({"IngestTranscoding": {"Engine": "native"}})"};
  TuningStore store(Tuning(), Use(database_), MakeObserver());
  RunOnThreads(static_cast<int>(patches.size()),
               [&](int patch)
               {
                 for (int i = 0; i < 50; i++)
                 {
                   store.Merge(Parse(patches[static_cast<std::size_t>(patch)]));
                   EXPECT_NE(nullptr, store.Get());
                 }
               });
  Tuning expected;

  for (const std::string& patch : patches)
  {
    expected = ApplyTuning(expected, Parse(patch));
  }

  EXPECT_EQ(expected, *store.Get());
  EXPECT_EQ(expected, told_.back());
  EXPECT_EQ(patches.size(), told_.size());

  TuningStore restarted(Tuning(), Use(database_), {});
  EXPECT_EQ(expected, *restarted.Load().tuning);
}

TEST_F(TuningStoreTest, AChangeIsTheKeysThatAreDifferentNowAndTakenBackByAPatch)
{
  const WallTime now(std::chrono::seconds(1'800'000'000));
  TuningStore store(Tuning(), std::nullopt, {}, {}, {}, [now] { return now; });
  store.Merge(Parse(R"({"DicomSockets": {"TcpNoDelay": true}})"));  // as it is
  EXPECT_TRUE(store.GetChanges({}).empty());

  store.Merge(MergeJson(Parse(DELAYED), Parse(VERIFY)));
  ASSERT_EQ(1U, store.GetChanges({}).size());
  const TuningChange change = store.GetChanges({})[0];
  EXPECT_EQ(now, change.time);
  EXPECT_EQ(Parse(R"({"DicomSockets": {"Preset": "custom", "TcpNoDelay": false},
                      "IngestTranscoding": {"Verify": true}})"),
            change.change);
  EXPECT_EQ(Parse(R"({"DicomSockets": {"TcpNoDelay": true},
                      "IngestTranscoding": {"Verify": false}})"),
            change.undo);
  EXPECT_EQ(Tuning(), *store.Merge(change.undo).tuning);
}

TEST_F(TuningStoreTest, TheLogSaysInOneLineWhoChangedWhatAndTheLatestChangesAreKept)
{
  WallTime now;
  std::vector<std::string> log;
  TuningStore store(
      Tuning(), std::nullopt, {}, {}, [&log](const std::string& line) { log.push_back(line); },
      [&now] { return now += std::chrono::seconds(1); });
  const TuningAuthor authors[] = {{"alice", "10.0.0.5"}, {"", "10.0.0.6"}, {"", ""}};

  for (std::size_t i = 0; i < TuningStore::MAXIMUM_CHANGES; i++)
  {
    store.Merge(Parse(DELAYED), authors[i % 3]);
    store.Reset();
  }

  const std::string what = R"({"DicomSockets":{"Preset":"custom","TcpNoDelay":false}})";
  EXPECT_EQ("the tuning was changed by the user \"alice\" from 10.0.0.5: " + what, log[0]);
  EXPECT_EQ("the tuning was changed by 10.0.0.6: " + what, log[2]);
  EXPECT_EQ("the tuning was changed from inside Orthanc, by a script or another plugin: " + what,
            log[4]);
  ASSERT_EQ(TuningStore::MAXIMUM_CHANGES, store.GetChanges({}).size());
  EXPECT_EQ(now, store.GetChanges({}).back().time);
  EXPECT_EQ(2U, store.GetChanges(now - std::chrono::seconds(1)).size());
}

TEST_F(TuningStoreTest, ChangesAreNotedInTheOrderInWhichTheyCameIntoForce)
{
  const auto keepAlive = [](int seconds)
  {
    return Parse(R"({"DicomSockets": {"KeepAliveSeconds": )" + std::to_string(seconds) + "}}");
  };
  std::unique_ptr<TuningStore> store;
  std::future<void> other;
  std::atomic<bool> isNoted = false;
  store = std::make_unique<TuningStore>(Tuning(), std::nullopt, TuningObserver(), TuningCheck(),
                                        [&](const std::string&)
                                        {
                                          if (!isNoted.exchange(true))
                                          {
                                            // Time enough to overtake the first one, were it let to
                                            other = std::async(std::launch::async, [&]
                                                               { store->Merge(keepAlive(72)); });
                                            other.wait_for(std::chrono::milliseconds(200));
                                          }
                                        });
  store->Merge(keepAlive(71));
  other.get();

  const std::vector<TuningChange> noted = store->GetChanges({});
  ASSERT_EQ(2U, noted.size());
  EXPECT_EQ(71, noted[0].change["DicomSockets"]["KeepAliveSeconds"].asInt());
  EXPECT_EQ(72, noted[1].change["DicomSockets"]["KeepAliveSeconds"].asInt());
}
