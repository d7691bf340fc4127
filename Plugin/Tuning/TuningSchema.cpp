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


    // Takes what a function reads, if it reads anything
    template <typename Value>
    bool Take(const std::optional<Value>& read, Value& target)
    {
      target = read.value_or(target);
      return read.has_value();
    }


    std::string GetText(const Json::Value& value)
    {
      return value.isString() ? value.asString() : "?";  // which no key allows
    }


    std::optional<SocketBuffer> ReadBuffer(const Json::Value& value)
    {
      if (BUFFER_RANGE.Contains(value))
      {
        return SocketBuffer::MakeFixed(static_cast<std::size_t>(value.asInt64()));
      }

      return value == BUFFER_AUTO      ? std::make_optional(SocketBuffer::MakeAutomatic())
             : value == BUFFER_DEFAULT ? std::make_optional(SocketBuffer::MakeDefault())
                                       : std::nullopt;
    }


    SettingKind<SocketBuffer> MakeBufferKind()
    {
      return {"string or integer", "\"auto\", \"default\" or " + BUFFER_RANGE.Describe(),
              [](const Json::Value& value, SocketBuffer& target)
              { return Take(ReadBuffer(value), target); },
              [](const SocketBuffer& buffer) -> Json::Value
              {
                return buffer.mode == SocketBuffer::Mode::Fixed
                           ? Json::Value(static_cast<Json::UInt64>(buffer.bytes))
                       : buffer.mode == SocketBuffer::Mode::Default ? BUFFER_DEFAULT
                                                                    : BUFFER_AUTO;
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
              [](const Json::Value& value, std::string& target)
              {
                const std::string name = GetText(value);
                const bool isAllowed =
                    name.size() <= MAXIMUM_CONGESTION_CONTROL &&
                    name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") ==
                        std::string::npos;
                target = isAllowed ? name : target;
                return isAllowed;
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
              [](const Json::Value& value, std::string& target)
              {
                const std::string name = GetText(value);
                return Take(name.empty() ? name : LookupWritableSyntax(name), target);
              },
              &WriteText};
    }


    std::optional<MemoryAmount> ReadMemory(const Json::Value& value)
    {
      if (MEMORY_RANGE.Contains(value) || IntegerRange{0, 0}.Contains(value))
      {
        return MemoryAmount{value.asUInt64(), 0};
      }

      for (auto percent = SHARE_RANGE.minimum; percent <= SHARE_RANGE.maximum; percent++)
      {
        if (value == std::to_string(percent) + "%")
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
              "0, " + MEMORY_RANGE.Describe() + ", or a share from \"1%\" to \"100%\"",
              [](const Json::Value& value, MemoryAmount& target)
              { return Take(ReadMemory(value), target); },
              [](const MemoryAmount& amount)
              {
                return amount.percent != 0 ? Json::Value(std::to_string(amount.percent) + "%")
                                           : Json::Value(static_cast<Json::Int64>(amount.bytes));
              }};
    }


    // "default" is no level
    SettingKind<std::optional<int>> MakeDeflateLevelKind()
    {
      return {"string or integer", "\"default\" or " + DEFLATE_LEVEL_RANGE.Describe(),
              [](const Json::Value& value, std::optional<int>& target)
              {
                const bool isLevel = DEFLATE_LEVEL_RANGE.Contains(value);
                const bool isAllowed = isLevel || value == BUFFER_DEFAULT;
                target = isLevel     ? std::make_optional(value.asInt())
                         : isAllowed ? std::nullopt
                                     : target;
                return isAllowed;
              },
              [](const std::optional<int>& level)
              {
                return level ? Json::Value(*level) : Json::Value(BUFFER_DEFAULT);
              }};
    }


    SettingKind<EngineChoice> MakeEngineKind()
    {
      return {"string", ListLabels(GetAllEngineChoices()),
              [](const Json::Value& value, EngineChoice& target)
              { return Take(ParseEngineChoice(GetText(value)), target); },
              [](const EngineChoice& engine)
              {
                return Json::Value(ToLabel(engine));
              }};
    }


    // Sets all the other keys of its section at once. "custom" is what GET shows for values that
    // are no preset: it sets nothing.
    SettingKind<DicomSockets> MakePresetKind()
    {
      return {"string", ListLabels(GetAllSocketPresets()),
              [](const Json::Value& value, DicomSockets& target)
              {
                const std::optional<SocketPreset> preset = ParseSocketPreset(GetText(value));
                target = preset ? GetPresetValues(*preset).value_or(target) : target;
                return preset.has_value();
              },
              [](const DicomSockets& sockets)
              {
                return Json::Value(ToLabel(FindPreset(sockets)));
              }};
    }


    // What makes the keys of a section: of their names, kinds and members
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

    const auto makeSocketKey = GetMakerOfKeys(DICOM_SOCKETS, &Tuning::dicomSockets);
    const auto makeTranscodingKey = GetMakerOfKeys(INGEST_TRANSCODING, &Tuning::ingestTranscoding);
    const auto makeMemoryKey = GetMakerOfKeys(MEMORY, &Tuning::memory);
    const auto makeAnswerKey = GetMakerOfKeys(ANSWERS, &Tuning::answers);
    const auto makeStorageKey = GetMakerOfKeys(STORAGE, &Tuning::storage);
    static const std::vector<TuningKey> ALL = {
        MakeSettingKey<Tuning>(DICOM_SOCKETS, PRESET, MakePresetKind(), &Tuning::dicomSockets),
        makeSocketKey("TcpNoDelay", MakeSwitchKind(), &Sockets::tcpNoDelay),
        makeSocketKey("TcpQuickAck", MakeSwitchKind(), &Sockets::tcpQuickAck),
        makeSocketKey("ReceiveBuffer", MakeBufferKind(), &Sockets::receiveBuffer),
        makeSocketKey("SendBuffer", MakeBufferKind(), &Sockets::sendBuffer),
        makeSocketKey("KeepAliveSeconds", MakeIntegerKind<std::chrono::seconds>(KEEP_ALIVE_RANGE),
                      &Sockets::keepAlive),
        makeSocketKey("UserTimeoutSeconds",
                      MakeIntegerKind<std::chrono::seconds>(USER_TIMEOUT_RANGE),
                      &Sockets::userTimeout),
        makeSocketKey("CongestionControl", MakeCongestionControlKind(),
                      &Sockets::congestionControl),
        makeTranscodingKey("TransferSyntax", MakeTransferSyntaxKind(),
                           &Transcoding::transferSyntax),
        makeTranscodingKey("Engine", MakeEngineKind(), &Transcoding::engine),
        makeTranscodingKey("Verify", MakeSwitchKind(), &Transcoding::verify),
        makeTranscodingKey("LossyQuality", MakeIntegerKind<unsigned int>(LOSSY_QUALITY_RANGE),
                           &Transcoding::lossyQuality),
        makeTranscodingKey("OfCompressed", MakeSwitchKind(), &Transcoding::ofCompressed),
        makeTranscodingKey("OrthancTranscoding", MakeSwitchKind(),
                           &Transcoding::orthancTranscoding),
        makeMemoryKey("IngestBudget", MakeMemoryKind(), &MemoryTuning::ingestBudget),
        makeMemoryKey("IngestWaitSeconds", MakeIntegerKind<std::chrono::seconds>(INGEST_WAIT_RANGE),
                      &MemoryTuning::ingestWait),
        makeAnswerKey("ArchiveLevel", MakeDeflateLevelKind(), &AnswerTuning::archiveLevel),
        makeAnswerKey("HttpLevel", MakeDeflateLevelKind(), &AnswerTuning::httpLevel),
        makeAnswerKey("PreviewLevel", MakeDeflateLevelKind(), &AnswerTuning::previewLevel),
        makeStorageKey("WriteAtOnce", MakeSwitchKind(), &StorageTuning::writeAtOnce),
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
}
