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


    struct BufferKind
    {
      static constexpr const char* TYPE = "string or integer";

      static std::string GetAllowed()
      {
        return "\"auto\", \"default\" or " + BUFFER_RANGE.Describe();
      }

      static std::optional<SocketBuffer> Parse(const Json::Value& value, const SocketBuffer&)
      {
        if (BUFFER_RANGE.Contains(value))
        {
          return SocketBuffer::MakeFixed(static_cast<std::size_t>(value.asInt64()));
        }

        return value == BUFFER_AUTO      ? std::make_optional(SocketBuffer::MakeAutomatic())
               : value == BUFFER_DEFAULT ? std::make_optional(SocketBuffer::MakeDefault())
                                         : std::nullopt;
      }

      static Json::Value Write(const SocketBuffer& buffer)
      {
        switch (buffer.mode)
        {
          case SocketBuffer::Mode::Fixed:
            return static_cast<Json::UInt64>(buffer.bytes);

          case SocketBuffer::Mode::Default:
            return BUFFER_DEFAULT;

          default:
            return BUFFER_AUTO;
        }
      }
    };


    struct CongestionControlKind
    {
      static constexpr const char* TYPE = "string";

      static std::string GetAllowed()
      {
        return "\"\" or a name of at most " + std::to_string(MAXIMUM_CONGESTION_CONTROL) +
               " characters a-z, 0-9 and _";
      }

      static std::optional<std::string> Parse(const Json::Value& value, const std::string&)
      {
        const std::string name = value.isString() ? value.asString() : "?";
        const bool isAllowed =
            name.size() <= MAXIMUM_CONGESTION_CONTROL &&
            name.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789_") == std::string::npos;
        return isAllowed ? std::make_optional(name) : std::nullopt;
      }

      static Json::Value Write(const std::string& name)
      {
        return name;
      }
    };


    struct TransferSyntaxKind
    {
      static constexpr const char* TYPE = "string";

      static std::string GetAllowed()
      {
        std::string allowed = "\"\" or the UID or the name of one of";
        const char* separator = " ";

        for (const TransferSyntax& syntax : GetWritableSyntaxes())
        {
          allowed += separator + std::string(syntax.uid) + " (" + syntax.name + ")";
          separator = ", ";
        }

        return allowed;
      }

      static std::optional<std::string> Parse(const Json::Value& value, const std::string&)
      {
        if (!value.isString())
        {
          return std::nullopt;
        }

        const std::string name = value.asString();
        return name.empty() ? name : LookupWritableSyntax(name);
      }

      static Json::Value Write(const std::string& uid)
      {
        return uid;
      }
    };


    // 0, a number of bytes, or a share of what the process may have, "25%"
    struct MemoryKind
    {
      static constexpr const char* TYPE = "string or integer";

      static std::string GetAllowed()
      {
        return "0, " + MEMORY_RANGE.Describe() + ", or a share from \"1%\" to \"100%\"";
      }

      static std::optional<MemoryAmount> Parse(const Json::Value& value, const MemoryAmount&)
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

      static Json::Value Write(const MemoryAmount& amount)
      {
        return amount.percent != 0 ? Json::Value(std::to_string(amount.percent) + "%")
                                   : Json::Value(static_cast<Json::Int64>(amount.bytes));
      }
    };


    // "default" is no level
    struct DeflateLevelKind
    {
      static constexpr const char* TYPE = "string or integer";

      static std::string GetAllowed()
      {
        return "\"default\" or " + DEFLATE_LEVEL_RANGE.Describe();
      }

      static std::optional<std::optional<int>> Parse(const Json::Value& value,
                                                     const std::optional<int>&)
      {
        using Level = std::optional<int>;
        return DEFLATE_LEVEL_RANGE.Contains(value) ? std::optional<Level>(Level(value.asInt()))
               : value == BUFFER_DEFAULT           ? std::optional<Level>(Level())
                                                   : std::nullopt;
      }

      static Json::Value Write(const std::optional<int>& level)
      {
        return level ? Json::Value(*level) : Json::Value(BUFFER_DEFAULT);
      }
    };


    struct EngineKind
    {
      static constexpr const char* TYPE = "string";

      static std::string GetAllowed()
      {
        return ListLabels(GetAllEngineChoices());
      }

      static std::optional<EngineChoice> Parse(const Json::Value& value, EngineChoice)
      {
        return value.isString() ? ParseEngineChoice(value.asString()) : std::nullopt;
      }

      static Json::Value Write(EngineChoice engine)
      {
        return ToLabel(engine);
      }
    };


    // Sets all the other keys of its section at once
    struct PresetKind
    {
      static constexpr const char* TYPE = "string";

      static std::string GetAllowed()
      {
        return ListLabels(GetAllSocketPresets());
      }

      // "custom" is what GET shows for values that are no preset: it sets nothing
      static std::optional<DicomSockets> Parse(const Json::Value& value,
                                               const DicomSockets& sockets)
      {
        const std::optional<SocketPreset> preset =
            value.isString() ? ParseSocketPreset(value.asString()) : std::nullopt;
        return preset ? GetPresetValues(*preset).value_or(sockets) : std::optional<DicomSockets>();
      }

      static Json::Value Write(const DicomSockets& sockets)
      {
        return ToLabel(FindPreset(sockets));
      }
    };


    // What makes the keys of a section: of their names, kinds and members
    template <typename Section>
    auto GetMakerOfKeys(const char* name, Section Tuning::*section)
    {
      return [name, section](const char* key, auto kind, auto member)
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
        MakeSettingKey<Tuning>(DICOM_SOCKETS, PRESET, PresetKind(), &Tuning::dicomSockets),
        makeSocketKey("TcpNoDelay", SwitchKind(), &Sockets::tcpNoDelay),
        makeSocketKey("TcpQuickAck", SwitchKind(), &Sockets::tcpQuickAck),
        makeSocketKey("ReceiveBuffer", BufferKind(), &Sockets::receiveBuffer),
        makeSocketKey("SendBuffer", BufferKind(), &Sockets::sendBuffer),
        makeSocketKey("KeepAliveSeconds", IntegerKind{KEEP_ALIVE_RANGE}, &Sockets::keepAlive),
        makeSocketKey("UserTimeoutSeconds", IntegerKind{USER_TIMEOUT_RANGE}, &Sockets::userTimeout),
        makeSocketKey("CongestionControl", CongestionControlKind(), &Sockets::congestionControl),
        makeTranscodingKey("TransferSyntax", TransferSyntaxKind(), &Transcoding::transferSyntax),
        makeTranscodingKey("Engine", EngineKind(), &Transcoding::engine),
        makeTranscodingKey("Verify", SwitchKind(), &Transcoding::verify),
        makeTranscodingKey("LossyQuality", IntegerKind{LOSSY_QUALITY_RANGE},
                           &Transcoding::lossyQuality),
        makeTranscodingKey("OfCompressed", SwitchKind(), &Transcoding::ofCompressed),
        makeTranscodingKey("OrthancTranscoding", SwitchKind(), &Transcoding::orthancTranscoding),
        makeMemoryKey("IngestBudget", MemoryKind(), &MemoryTuning::ingestBudget),
        makeMemoryKey("IngestWaitSeconds", IntegerKind{INGEST_WAIT_RANGE},
                      &MemoryTuning::ingestWait),
        makeAnswerKey("ArchiveLevel", DeflateLevelKind(), &AnswerTuning::archiveLevel),
        makeAnswerKey("HttpLevel", DeflateLevelKind(), &AnswerTuning::httpLevel),
        makeAnswerKey("PreviewLevel", DeflateLevelKind(), &AnswerTuning::previewLevel),
        makeStorageKey("WriteAtOnce", SwitchKind(), &StorageTuning::writeAtOnce),
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
