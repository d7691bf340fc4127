// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningSchema.h"

#include "Dicom/TransferSyntax.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    template <typename Values>
    std::string ListLabels(const Values& values)
    {
      std::string text;

      for (std::size_t i = 0; i < values.size(); i++)
      {
        text += i == 0 ? "\"" : (i + 1 == values.size() ? " or \"" : ", \"");
        text += std::string(ToLabel(values[i])) + "\"";
      }

      return text;
    }

    std::string GetText(const Json::Value& json)
    {
      return json.isString() ? json.asString() : "?";  // which no key allows
    }

    SettingKind<SocketBuffer> MakeBufferKind()
    {
      return {"string or integer", "\"auto\", \"default\" or " + BUFFER_RANGE.Describe(),
              [](const Json::Value& json)
              {
                return BUFFER_RANGE.Contains(json) ? std::make_optional(SocketBuffer::MakeFixed(
                                                         static_cast<std::size_t>(json.asInt64())))
                       : json == BUFFER_AUTO       ? std::make_optional(SocketBuffer())
                       : json == BUFFER_DEFAULT
                           ? std::make_optional(SocketBuffer{SocketBuffer::Mode::Default})
                           : std::nullopt;
              },
              [](const SocketBuffer& buffer)
              {
                return buffer.mode == SocketBuffer::Mode::Fixed
                           ? Json::Value(static_cast<Json::UInt64>(buffer.bytes))
                       : buffer.mode == SocketBuffer::Mode::Default ? Json::Value(BUFFER_DEFAULT)
                                                                    : Json::Value(BUFFER_AUTO);
              }};
    }

    Json::Value WriteText(const std::string& text)
    {
      return text;
    }

    SettingKind<std::string> MakeCongestionControlKind()
    {
      return {"string",
              "\"\" or a name of at most " + std::to_string(MAXIMUM_CONGESTION_CONTROL) +
                  " characters a-z, 0-9 and _",
              [](const Json::Value& json)
              {
                const std::string name = GetText(json);
                const bool isAllowed =
                    name.size() <= MAXIMUM_CONGESTION_CONTROL &&
                    name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                        std::string::npos;
                return isAllowed ? std::make_optional(name) : std::nullopt;
              },
              &WriteText};
    }

    SettingKind<std::string> MakeTransferSyntaxKind()
    {
      std::string allowed = "\"\" or the UID or the name of one of";
      const char* separator = " ";

      for (const TransferSyntax& syntax : GetWritableSyntaxes())
      {
        allowed += separator + std::string(syntax.uid) + " (" + syntax.name + ")";
        separator = ", ";
      }

      return {"string", allowed,
              [](const Json::Value& json)
              {
                const std::string name = GetText(json);
                return name.empty() ? name : LookupWritableSyntax(name);
              },
              &WriteText};
    }

    std::optional<MemoryAmount> ReadMemory(const Json::Value& json)
    {
      if (MEMORY_RANGE.Contains(json) || IntegerRange{0, 0}.Contains(json))
      {
        return MemoryAmount{json.asUInt64(), 0};
      }

      for (auto percent = SHARE_RANGE.minimum; percent <= SHARE_RANGE.maximum; percent++)
      {
        if (json == std::to_string(percent) + "%")
        {
          return MemoryAmount{0, static_cast<unsigned int>(percent)};
        }
      }

      return std::nullopt;
    }

    // 0, a number of bytes, or a share of what the process may have, "25%"
    SettingKind<MemoryAmount> MakeMemoryKind()
    {
      return {"string or integer",
              "0, " + MEMORY_RANGE.Describe() + ", or a share from \"1%\" to \"100%\"", &ReadMemory,
              [](const MemoryAmount& amount)
              {
                return amount.percent != 0 ? Json::Value(std::to_string(amount.percent) + "%")
                                           : Json::Value(static_cast<Json::Int64>(amount.bytes));
              }};
    }

    // "default" is no level
    SettingKind<std::optional<int>> MakeDeflateLevelKind()
    {
      using Level = std::optional<int>;
      return {"string or integer", "\"default\" or " + DEFLATE_LEVEL_RANGE.Describe(),
              [](const Json::Value& json)
              {
                return DEFLATE_LEVEL_RANGE.Contains(json)
                           ? std::optional<Level>(Level(json.asInt()))
                       : json == BUFFER_DEFAULT ? std::optional<Level>(Level())
                                                : std::nullopt;
              },
              [](const Level& level)
              {
                return level ? Json::Value(*level) : Json::Value(BUFFER_DEFAULT);
              }};
    }

    SettingKind<EngineChoice> MakeEngineKind()
    {
      return {"string", ListLabels(GetAllEngineChoices()),
              [](const Json::Value& json) { return ParseEngineChoice(GetText(json)); },
              [](EngineChoice engine)
              {
                return Json::Value(ToLabel(engine));
              }};
    }

    // Sets all the other keys of its section at once. "custom" is what GET shows for values that
    // are no preset: it sets nothing.
    TuningKey MakePresetKey()
    {
      return {DICOM_SOCKETS,
              PRESET,
              "string",
              ListLabels(GetAllSocketPresets()),
              [](const Json::Value& json, Tuning& tuning)
              {
                const std::optional<SocketPreset> preset = ParseSocketPreset(GetText(json));
                const auto values = preset ? GetPresetValues(*preset) : std::nullopt;
                tuning.dicomSockets = values.value_or(tuning.dicomSockets);
                return preset.has_value();
              },
              [](const Tuning& tuning)
              {
                return Json::Value(ToLabel(FindPreset(tuning.dicomSockets)));
              }};
    }

    template <typename Section>
    bool AreEqual(Section Tuning::*section, const Section& a, const Section& b)
    {
      Tuning first;
      Tuning second;
      first.*section = a;
      second.*section = b;
      return first == second;
    }

    template <typename Section>
    auto GetMakerOfKeys(const char* name, Section Tuning::*section)
    {
      return [name, section](const char* key, const auto& kind, auto member)
      {
        return MakeSettingKey<Tuning>(
            name, key, kind,
            [ section, member ](auto& tuning) -> auto& { return tuning.*section.*member; });
      };
    }
  }

  const std::vector<TuningKey>& GetTuningKeys()
  {
    using Sockets = DicomSockets;
    using Transcoding = IngestTranscoding;

    const auto switchKind = MakeSwitchKind();
    const auto bufferKind = MakeBufferKind();
    const auto levelKind = MakeDeflateLevelKind();
    const auto secondsKind = &MakeIntegerKind<std::chrono::seconds>;
    const auto makeSocketKey = GetMakerOfKeys(DICOM_SOCKETS, &Tuning::dicomSockets);
    const auto makeTranscodingKey = GetMakerOfKeys(INGEST_TRANSCODING, &Tuning::ingestTranscoding);
    const auto makeMemoryKey = GetMakerOfKeys(MEMORY, &Tuning::memory);
    const auto makeAnswerKey = GetMakerOfKeys(ANSWERS, &Tuning::answers);
    const auto makeStorageKey = GetMakerOfKeys(STORAGE, &Tuning::storage);
    static const std::vector<TuningKey> ALL = {
        MakePresetKey(),
        makeSocketKey("TcpNoDelay", switchKind, &Sockets::tcpNoDelay),
        makeSocketKey("TcpQuickAck", switchKind, &Sockets::tcpQuickAck),
        makeSocketKey("ReceiveBuffer", bufferKind, &Sockets::receiveBuffer),
        makeSocketKey("SendBuffer", bufferKind, &Sockets::sendBuffer),
        makeSocketKey("KeepAliveSeconds", secondsKind(KEEP_ALIVE_RANGE), &Sockets::keepAlive),
        makeSocketKey("UserTimeoutSeconds", secondsKind(USER_TIMEOUT_RANGE), &Sockets::userTimeout),
        makeSocketKey("CongestionControl", MakeCongestionControlKind(),
                      &Sockets::congestionControl),
        makeTranscodingKey("TransferSyntax", MakeTransferSyntaxKind(),
                           &Transcoding::transferSyntax),
        makeTranscodingKey("Engine", MakeEngineKind(), &Transcoding::engine),
        makeTranscodingKey("Verify", switchKind, &Transcoding::verify),
        makeTranscodingKey("LossyQuality", MakeIntegerKind<unsigned int>(LOSSY_QUALITY_RANGE),
                           &Transcoding::lossyQuality),
        makeTranscodingKey("OfCompressed", switchKind, &Transcoding::ofCompressed),
        makeTranscodingKey("OrthancTranscoding", switchKind, &Transcoding::orthancTranscoding),
        makeMemoryKey("IngestBudget", MakeMemoryKind(), &MemoryTuning::ingestBudget),
        makeMemoryKey("IngestWaitSeconds", secondsKind(INGEST_WAIT_RANGE),
                      &MemoryTuning::ingestWait),
        makeAnswerKey("ArchiveLevel", levelKind, &AnswerTuning::archiveLevel),
        makeAnswerKey("HttpLevel", levelKind, &AnswerTuning::httpLevel),
        makeAnswerKey("PreviewLevel", levelKind, &AnswerTuning::previewLevel),
        makeStorageKey("WriteAtOnce", switchKind, &StorageTuning::writeAtOnce),
    };
    return ALL;
  }

  const std::vector<std::string>& GetTuningSections()
  {
    static const std::vector<std::string> ALL = {DICOM_SOCKETS, INGEST_TRANSCODING, MEMORY, ANSWERS,
                                                 STORAGE};
    return ALL;
  }

  const TuningKey* FindTuningKey(const std::string& section, const std::string& name)
  {
    const std::vector<TuningKey>& keys = GetTuningKeys();
    const auto found = std::find_if(keys.begin(), keys.end(),
                                    [&](const TuningKey& key)
                                    { return key.section == section && key.name == name; });
    return found == keys.end() ? nullptr : &*found;
  }

  // Divided first, as bytes times 100 may be no number any more
  std::uint64_t MemoryAmount::Resolve(std::uint64_t memory) const
  {
    constexpr std::uint64_t WHOLE = 100;
    return percent == 0 ? bytes : memory / WHOLE * percent;
  }

  std::optional<DicomSockets> GetPresetValues(SocketPreset preset)
  {
    constexpr SocketBuffer BUFFER = {SocketBuffer::Mode::Default, 0};
    const DicomSockets stock = {
        false, false, BUFFER, BUFFER, std::chrono::seconds(0), std::chrono::seconds(0), ""};
    return preset == SocketPreset::Stock   ? std::make_optional(stock)
           : preset == SocketPreset::Tuned ? std::make_optional(DicomSockets())
                                           : std::nullopt;
  }

  SocketPreset FindPreset(const DicomSockets& sockets)
  {
    for (const SocketPreset preset : GetAllSocketPresets())
    {
      if (GetPresetValues(preset) == sockets)
      {
        return preset;
      }
    }

    return SocketPreset::Custom;
  }

  bool operator==(const Tuning& a, const Tuning& b)
  {
    const std::vector<TuningKey>& keys = GetTuningKeys();
    return std::all_of(keys.begin(), keys.end(),
                       [&](const TuningKey& key)
                       { return key.name == PRESET || key.write(a) == key.write(b); });
  }

  bool operator==(const DicomSockets& a, const DicomSockets& b)
  {
    return AreEqual(&Tuning::dicomSockets, a, b);
  }

  bool operator==(const IngestTranscoding& a, const IngestTranscoding& b)
  {
    return AreEqual(&Tuning::ingestTranscoding, a, b);
  }
}
