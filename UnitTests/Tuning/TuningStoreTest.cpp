// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningStore.h"

#include "Threads.h"
#include "Tuning/FilePersistence.h"
#include "Tuning/JsonValues.h"
#include "Tuning/TuningReader.h"

#include <gtest/gtest.h>

#include <future>
#include <thread>

using namespace OrthancPerf;

namespace
{
  // Keeps what it was told. The store serializes the calls.
  class Recorder
  {
  public:
    TuningObserver GetObserver()
    {
      return [this](const Tuning& tuning)
      {
        seen_.push_back(tuning);
      };
    }

    const std::vector<Tuning>& GetSeen() const
    {
      return seen_;
    }

  private:
    std::vector<Tuning> seen_;
  };

  class TuningStoreTest : public ::testing::Test
  {
  protected:
    FilePersistence MakeBrokenPersistence() const
    {
      return FilePersistence(folder_.GetPath() / "missing" / "tuning.json");
    }

    TemporaryFolder folder_;
    FilePersistence persistence_{folder_.GetPath() / "tuning.json"};
    Recorder recorder_;
  };

  const char* const STOCK = R"({"DicomSockets": {"Preset": "stock"}})";
}

// Saving may take as long as a database hangs
TEST_F(TuningStoreTest, AChangeIsLoggedOnceItIsInForceAndBeforeItIsSaved)
{
  std::unique_ptr<TuningStore> store;
  int told = 0;
  store = std::make_unique<TuningStore>(
      Tuning(), Use(persistence_), TuningObserver(), TuningCheck(),
      [&](const std::string&)
      {
        told++;
        EXPECT_EQ(told == 1, FindPreset(store->Get()->dicomSockets) == SocketPreset::Stock);
        EXPECT_EQ(told == 2, persistence_.Load().has_value());  // as it was before this change
      });
  store->Merge(Parse(STOCK));
  store->Merge(Parse(STOCK));  // nothing new
  store->Reset();
  EXPECT_EQ(2, told);
  EXPECT_FALSE(persistence_.Load().has_value());
}

TEST_F(TuningStoreTest, MergesAndTellsAndAResetReturnsToTheConfiguration)
{
  TuningStore store(Tuning(), Use(persistence_), recorder_.GetObserver());
  store.Announce();
  const TuningOutcome outcome = store.Merge(Parse(STOCK));
  EXPECT_EQ(SocketPreset::Stock, FindPreset(outcome.tuning->dicomSockets));
  EXPECT_EQ(outcome.tuning, store.Get());
  EXPECT_TRUE(outcome.warnings.empty());
  EXPECT_EQ(Tuning(), *store.Reset().tuning);
  EXPECT_EQ(std::vector<Tuning>({Tuning(), *outcome.tuning, Tuning()}), recorder_.GetSeen());
  EXPECT_EQ(std::nullopt, persistence_.Load());
}

TEST_F(TuningStoreTest, BadInputChangesNothing)
{
  TuningStore store(Tuning(), Use(persistence_), recorder_.GetObserver());
  store.Announce();
  const auto before = store.Get();

  for (const char* patch :
       {R"({"DicomSockets": {"TcpNoDelay": false, "TcpQuickAck": 0}})",
        R"({"DicomSockets": {"TcpNoDelay": false}, "IngestTranscoding": {"Engine": "x"}})",
        R"({"DicomSockets": {"TcpNoDelay": false}, "Unknown": 1})", "[]"})
  {
    EXPECT_THROW(store.Merge(Parse(patch)), SettingError) << patch;
  }

  EXPECT_EQ(before, store.Get());
  EXPECT_TRUE(store.GetOverrides().empty());
  EXPECT_EQ(1u, recorder_.GetSeen().size());
  EXPECT_EQ(0, persistence_.CountSaves());
}

TEST_F(TuningStoreTest, NullTakesAKeyASectionOrAPresetBackToTheConfiguration)
{
  Tuning configured;
  configured.dicomSockets.keepAlive = std::chrono::seconds(5);
  configured.dicomSockets.tcpQuickAck = false;

  for (const char* reset : {R"({"DicomSockets": null})", R"({"DicomSockets": {"Preset": null}})"})
  {
    TuningStore store(configured, std::nullopt, {});
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

TEST_F(TuningStoreTest, PuttingWhatIsInForceChangesNothingAndTellsNobody)
{
  for (const char* patch :
       {"{}", STOCK, R"({"DicomSockets": {"SendBuffer": 123456, "CongestionControl": "bbr"}})"})
  {
    Recorder recorder;
    TuningStore store(Tuning(), std::nullopt, recorder.GetObserver());
    store.Announce();
    store.Merge(Parse(patch));
    const Tuning before = *store.Get();
    const std::size_t told = recorder.GetSeen().size();
    store.Merge(ToJson(before));
    EXPECT_EQ(before, *store.Get()) << patch;
    EXPECT_EQ(told, recorder.GetSeen().size()) << patch;
  }
}

TEST_F(TuningStoreTest, ChangesSurviveARestart)
{
  TuningStore(Tuning(), Use(persistence_), {}).Merge(Parse(STOCK));

  Tuning configured;
  configured.ingestTranscoding.verify = true;
  TuningStore store(configured, Use(persistence_), recorder_.GetObserver());
  store.Announce();
  EXPECT_EQ(configured, *store.Get());

  const TuningOutcome outcome = store.Load();
  EXPECT_TRUE(outcome.warnings.empty());
  EXPECT_EQ(SocketPreset::Stock, FindPreset(outcome.tuning->dicomSockets));
  EXPECT_TRUE(outcome.tuning->ingestTranscoding.verify);
  EXPECT_EQ(2u, recorder_.GetSeen().size());

  store.Load();
  EXPECT_EQ(2u, recorder_.GetSeen().size());
}

TEST_F(TuningStoreTest, WithoutPersistenceNothingIsLoaded)
{
  TuningStore store(Tuning(), std::nullopt, {});
  EXPECT_TRUE(store.Load().warnings.empty());
  EXPECT_EQ(Tuning(), *store.Get());
}

TEST_F(TuningStoreTest, AChangeBeforeLoadKeepsWhatWasSaved)
{
  TuningStore(Tuning(), Use(persistence_), {}).Merge(Parse(STOCK));

  TuningStore store(Tuning(), Use(persistence_), {});
  store.Merge(Parse(R"({"IngestTranscoding": {"Verify": true}})"));
  store.Load();
  EXPECT_EQ(SocketPreset::Stock, FindPreset(store.Get()->dicomSockets));
  EXPECT_TRUE(store.Get()->ingestTranscoding.verify);
}

TEST_F(TuningStoreTest, AResetBeforeLoadClearsWhatWasSaved)
{
  TuningStore(Tuning(), Use(persistence_), {}).Merge(Parse(STOCK));

  TuningStore store(Tuning(), Use(persistence_), {});
  store.Reset();
  store.Load();
  EXPECT_EQ(Tuning(), *store.Get());
  EXPECT_EQ(std::nullopt, persistence_.Load());
}

TEST_F(TuningStoreTest, SavesOnlyWhatChanged)
{
  TuningStore store(Tuning(), Use(persistence_), {});
  store.Merge(Parse("{}"));
  EXPECT_EQ(0, persistence_.CountSaves() + persistence_.CountClears());
  store.Merge(Parse(STOCK));
  store.Merge(Parse(STOCK));
  EXPECT_EQ(1, persistence_.CountSaves());
  store.Merge(Parse(R"({"DicomSockets": null})"));
  EXPECT_EQ(1, persistence_.CountSaves());
  EXPECT_EQ(1, persistence_.CountClears());
}

TEST_F(TuningStoreTest, UnreadableSavedDataIsIgnoredWithAWarning)
{
  for (const char* text : {"{", "[]", "\x01\xff", R"({"DicomSockets": {"TcpNoDelay": 7}})",
                           R"({"DicomSockets": "stock"})"})
  {
    persistence_.Save(text);
    Recorder recorder;
    TuningStore store(Tuning(), Use(persistence_), recorder.GetObserver());
    store.Announce();
    const TuningOutcome outcome = store.Load();
    EXPECT_EQ(1u, outcome.warnings.size()) << text;
    EXPECT_EQ(Tuning(), *outcome.tuning) << text;
    EXPECT_EQ(1u, recorder.GetSeen().size()) << text;
    EXPECT_EQ(text, persistence_.Load());

    EXPECT_TRUE(store.Reset().warnings.empty());
    EXPECT_EQ(std::nullopt, persistence_.Load());
  }
}

TEST_F(TuningStoreTest, SavedValuesOfAnotherVersionAreLeftOutAndTheOthersKept)
{
  persistence_.Save(R"({"IngestTranscoding": {"Engine": "quantum", "Verify": true},
                       "Memory": {"IngestBudget": "25%"}, "DicomSockets": 7})");
  TuningStore store(Tuning(), Use(persistence_), {});
  const TuningOutcome outcome = store.Load();
  ASSERT_EQ(2u, outcome.warnings.size());
  EXPECT_NE(std::string::npos, outcome.warnings[0].find("SavedTuning.DicomSockets is 7"));
  EXPECT_NE(std::string::npos,
            outcome.warnings[1].find("SavedTuning.IngestTranscoding.Engine is \"quantum\""));
  EXPECT_TRUE(outcome.tuning->ingestTranscoding.verify);
  EXPECT_EQ("25%", ToJson(*outcome.tuning)["Memory"]["IngestBudget"].asString());

  store.Merge(Parse(STOCK));
  EXPECT_EQ("25%", Parse(*persistence_.Load())["Memory"]["IngestBudget"].asString());
}

TEST_F(TuningStoreTest, AChangeThatCannotBeSavedIsInForceAndReported)
{
  const std::filesystem::path gone = folder_.GetPath() / "gone";
  std::filesystem::create_directory(gone);
  FilePersistence persistence(gone / "tuning.json");
  TuningStore store(Tuning(), Use(persistence), recorder_.GetObserver());
  store.Announce();
  EXPECT_TRUE(store.Load().warnings.empty());
  std::filesystem::remove_all(gone);

  const TuningOutcome outcome = store.Merge(Parse(STOCK));
  ASSERT_EQ(1u, outcome.warnings.size());
  EXPECT_NE(std::string::npos, outcome.warnings[0].find("could not be saved"));
  EXPECT_NE(std::string::npos, outcome.warnings[0].find("no such folder"));
  EXPECT_EQ(SocketPreset::Stock, FindPreset(store.Get()->dicomSockets));
  EXPECT_EQ(2u, recorder_.GetSeen().size());
}

TEST_F(TuningStoreTest, IsUnsavedFromAChangeThatCannotBeSavedUntilOneIs)
{
  const std::filesystem::path later = folder_.GetPath() / "later";
  std::filesystem::create_directory(later);
  FilePersistence persistence(later / "tuning.json");
  TuningStore store(Tuning(), Use(persistence), {});
  store.Load();
  EXPECT_FALSE(store.IsUnsaved());
  std::filesystem::remove_all(later);
  EXPECT_FALSE(store.Merge(Parse(STOCK)).warnings.empty());
  EXPECT_TRUE(store.IsUnsaved());
  EXPECT_THROW(store.Merge(Parse("[]")), SettingError);
  EXPECT_TRUE(store.IsUnsaved());

  std::filesystem::create_directory(later);
  EXPECT_TRUE(store.Merge(Parse("{}")).warnings.empty());
  EXPECT_TRUE(store.IsUnsaved());
  EXPECT_TRUE(store.Merge(Parse(STOCK)).warnings.empty());
  EXPECT_FALSE(store.IsUnsaved());
  EXPECT_EQ(1, persistence.CountSaves());

  std::filesystem::remove_all(later);
  store.Reset();
  EXPECT_TRUE(store.IsUnsaved());
  std::filesystem::create_directory(later);
  store.Reset();
  EXPECT_FALSE(store.IsUnsaved());
}

TEST_F(TuningStoreTest, AChangeIsUnsavedWhileItIsBeingSaved)
{
  struct Persistence
  {
    std::optional<std::string> Load()
    {
      return std::nullopt;
    }

    void Save(const std::string&)
    {
      wasUnsaved = store->IsUnsaved();
    }

    const TuningStore* store = nullptr;
    bool wasUnsaved = false;
  };

  Persistence persistence;
  TuningStore store(Tuning(), Use(persistence), {});
  persistence.store = &store;
  store.Merge(Parse(STOCK));
  EXPECT_TRUE(persistence.wasUnsaved);
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

TEST_F(TuningStoreTest, WhatNobodyChangedIsNotUnsaved)
{
  // Not what is saved from now on, as a key is unknown here
  persistence_.Save(R"({"DicomSockets": {"TcpNoDelay": false, "TcpFastOpen": true}})");
  TuningStore unknown(Tuning(), Use(persistence_), {});
  EXPECT_FALSE(unknown.Load().warnings.empty());
  EXPECT_FALSE(unknown.IsUnsaved());

  FilePersistence broken = MakeBrokenPersistence();
  TuningStore unread(Tuning(), Use(broken), {});
  EXPECT_FALSE(unread.Load().warnings.empty());
  EXPECT_FALSE(unread.IsUnsaved());
}

TEST_F(TuningStoreTest, NothingIsChangedUntilTheSavedIsLoaded)
{
  const std::filesystem::path later = folder_.GetPath() / "later";
  FilePersistence persistence(later / "tuning.json");
  TuningStore store(Tuning(), Use(persistence), {});
  EXPECT_EQ(1u, store.Load().warnings.size());
  EXPECT_THROW(store.Merge(Parse(STOCK)), std::runtime_error);
  EXPECT_EQ(Tuning(), *store.Merge(Parse("{}")).tuning);
  EXPECT_FALSE(store.IsLoaded());
  EXPECT_FALSE(store.IsUnsaved());
  EXPECT_EQ(Tuning(), *store.Get());

  std::filesystem::create_directory(later);
  persistence.Save(R"({"DicomSockets": {"TcpNoDelay": false}})");
  EXPECT_TRUE(store.Load().warnings.empty());
  EXPECT_FALSE(store.Get()->dicomSockets.tcpNoDelay);
  EXPECT_TRUE(store.Merge(Parse(R"({"IngestTranscoding": {"Verify": true}})")).warnings.empty());
  EXPECT_EQ(Parse(R"({"DicomSockets": {"TcpNoDelay": false},
                      "IngestTranscoding": {"Verify": true}})"),
            Parse(*persistence.Load()));
}

TEST_F(TuningStoreTest, AResetBeforeTheSavedCanBeLoadedTakesBackAll)
{
  const std::filesystem::path later = folder_.GetPath() / "later";
  FilePersistence persistence(later / "tuning.json");
  TuningStore store(Tuning(), Use(persistence), {});
  store.Reset();
  EXPECT_TRUE(store.IsUnsaved());

  std::filesystem::create_directory(later);
  persistence.Save(R"({"DicomSockets": {"TcpNoDelay": false}})");
  EXPECT_TRUE(store.Merge(Parse(R"({"IngestTranscoding": {"Verify": true}})")).warnings.empty());
  EXPECT_EQ(Parse(R"({"IngestTranscoding": {"Verify": true}})"), Parse(*persistence.Load()));
}

TEST_F(TuningStoreTest, ConcurrentChangesLoseNothing)
{
  const std::vector<std::string> patches = {
      R"({"DicomSockets": {"TcpNoDelay": false}})",
      R"({"DicomSockets": {"TcpQuickAck": false}})",
      R"({"DicomSockets": {"ReceiveBuffer": 65536}})",
      R"({"DicomSockets": {"SendBuffer": 65537}})",
      R"({"DicomSockets": {"KeepAliveSeconds": 9}})",
      R"({"IngestTranscoding": {"Engine": "native"}})",
      R"({"IngestTranscoding": {"Verify": true}})",
      R"({"IngestTranscoding": {"LossyQuality": 50}})",
      R"({"IngestTranscoding": {"OfCompressed": true}})",
      R"({"IngestTranscoding": {"OrthancTranscoding": true}})",
  };

  TuningStore store(Tuning(), Use(persistence_), recorder_.GetObserver());
  store.Announce();
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
  EXPECT_EQ(expected, recorder_.GetSeen().back());
  EXPECT_EQ(1 + patches.size(), recorder_.GetSeen().size());

  TuningStore restarted(Tuning(), Use(persistence_), {});
  EXPECT_EQ(expected, *restarted.Load().tuning);
}

TEST_F(TuningStoreTest, ReadersSeeTheDocumentBeforeOrAfterAChangeOnly)
{
  TuningStore store(Tuning(), std::nullopt, {});
  std::thread writer(
      [&store]
      {
        for (int i = 0; i < 300; i++)
        {
          store.Merge(Parse(STOCK));
          store.Reset();
        }
      });

  for (int i = 0; i < 3000; i++)
  {
    EXPECT_NE(SocketPreset::Custom, FindPreset(store.Get()->dicomSockets));
  }

  writer.join();
}
