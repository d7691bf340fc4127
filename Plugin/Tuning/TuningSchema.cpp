// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningSchema.h"

#include "Tuning/WritableSyntax.h"

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* BUFFER_AUTO = "auto";
    constexpr const char* BUFFER_DEFAULT = "default";

    std::string ListAsText(const std::vector<std::string>& words)
    {
      std::string text;

      for (std::size_t i = 0; i < words.size(); i++)
      {
        text += i == 0 ? "" : (i + 1 == words.size() ? " or " : ", ");
        text += "\"" + words[i] + "\"";
      }

      return text;
    }


    template <typename Values>
    std::string ListLabels(const Values& values)
    {
      std::vector<std::string> labels;
      labels.reserve(values.size());

      for (const auto value : values)
      {
        labels.emplace_back(ToLabel(value));
      }

      return ListAsText(labels);
    }


    bool ReadBuffer(const Json::Value& value, SocketBuffer& buffer)
    {
      if (IsIntegerWithin(value, BUFFER_RANGE.minimum, BUFFER_RANGE.maximum))
      {
        buffer = SocketBuffer::MakeFixed(static_cast<std::size_t>(value.asInt64()));
        return true;
      }

      if (value == BUFFER_AUTO || value == BUFFER_DEFAULT)
      {
        buffer = value == BUFFER_AUTO ? SocketBuffer::MakeAutomatic() : SocketBuffer::MakeDefault();
        return true;
      }

      return false;
    }


    Json::Value WriteBuffer(const SocketBuffer& buffer)
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


    TuningKey MakeBufferKey(const std::string& name, const std::string& description,
                            SocketBuffer DicomSockets::*member)
    {
      const auto read = [member](const Json::Value& value, Tuning& tuning)
      {
        return ReadBuffer(value, tuning.dicomSockets.*member);
      };

      const auto write = [member](const Tuning& tuning)
      {
        return WriteBuffer(tuning.dicomSockets.*member);
      };

      return {DICOM_SOCKETS,
              name,
              "string or integer",
              "\"auto\", \"default\" or " + ToText(BUFFER_RANGE),
              description,
              read,
              write};
    }


    TuningKey MakeSecondsKey(const std::string& name, const std::string& description,
                             const IntegerRange& range, std::chrono::seconds DicomSockets::*member)
    {
      return MakeIntegerKey<Tuning>(
          DICOM_SOCKETS, name, description, range,
          [member](const Tuning& tuning)
          { return static_cast<std::int64_t>((tuning.dicomSockets.*member).count()); },
          [member](Tuning& tuning, std::int64_t value)
          { tuning.dicomSockets.*member = std::chrono::seconds(value); });
    }


    TuningKey MakePresetKey()
    {
      const auto read = [](const Json::Value& value, Tuning& tuning)
      {
        const std::optional<SocketPreset> preset =
            value.isString() ? ParseSocketPreset(value.asString()) : std::nullopt;

        if (!preset)
        {
          return false;
        }

        // "custom" is what GET shows for values that are no preset: it sets nothing
        tuning.dicomSockets = GetPresetValues(*preset).value_or(tuning.dicomSockets);
        return true;
      };

      const auto write = [](const Tuning& tuning)
      {
        return Json::Value(ToLabel(FindPreset(tuning.dicomSockets)));
      };

      return {DICOM_SOCKETS,
              PRESET,
              "string",
              ListLabels(GetAllSocketPresets()),
              "sets all the other keys of the section at once; keys given beside it win",
              read,
              write};
    }


    bool IsCongestionControl(const std::string& name)
    {
      const auto isAllowed = [](char c)
      {
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
      };
      return name.size() <= MAXIMUM_CONGESTION_CONTROL &&
             std::all_of(name.begin(), name.end(), isAllowed);
    }


    TuningKey MakeCongestionControlKey()
    {
      const auto read = [](const Json::Value& value, Tuning& tuning)
      {
        if (!value.isString() || !IsCongestionControl(value.asString()))
        {
          return false;
        }

        tuning.dicomSockets.congestionControl = value.asString();
        return true;
      };

      const auto write = [](const Tuning& tuning)
      {
        return Json::Value(tuning.dicomSockets.congestionControl);
      };

      return {DICOM_SOCKETS,
              "CongestionControl",
              "string",
              "\"\" or a name of at most " + std::to_string(MAXIMUM_CONGESTION_CONTROL) +
                  " characters a-z, 0-9 and _",
              "the kernel's congestion control algorithm, such as \"bbr\"; \"\": the system's",
              read,
              write};
    }


    TuningKey MakeTransferSyntaxKey()
    {
      const auto read = [](const Json::Value& value, Tuning& tuning)
      {
        const std::optional<std::string> uid = !value.isString() ? std::nullopt
                                               : value.asString().empty()
                                                   ? std::string()
                                                   : LookupWritableSyntax(value.asString());

        if (uid)
        {
          tuning.ingestTranscoding.transferSyntax = *uid;
        }

        return uid.has_value();
      };

      const auto write = [](const Tuning& tuning)
      {
        return Json::Value(tuning.ingestTranscoding.transferSyntax);
      };

      std::string allowed = "\"\" or the UID or the name of one of";
      const char* separator = " ";

      for (const WritableSyntax& syntax : GetWritableSyntaxes())
      {
        allowed += separator + std::string(syntax.uid) + " (" + syntax.name + ")";
        separator = ", ";
      }

      return {INGEST_TRANSCODING,
              "TransferSyntax",
              "string",
              allowed,
              "what instances are transcoded to before they are stored; \"\": store as received",
              read,
              write};
    }


    TuningKey MakeEngineKey()
    {
      const auto read = [](const Json::Value& value, Tuning& tuning)
      {
        const std::optional<EngineChoice> engine =
            value.isString() ? ParseEngineChoice(value.asString()) : std::nullopt;
        tuning.ingestTranscoding.engine = engine.value_or(tuning.ingestTranscoding.engine);
        return engine.has_value();
      };

      const auto write = [](const Tuning& tuning)
      {
        return Json::Value(ToLabel(tuning.ingestTranscoding.engine));
      };

      return {INGEST_TRANSCODING,
              "Engine",
              "string",
              ListLabels(GetAllEngineChoices()),
              "who transcodes; \"auto\": the fastest that works for this kind of image",
              read,
              write};
    }


    std::vector<TuningKey> MakeSocketKeys()
    {
      return {
          MakePresetKey(),
          MakeBooleanKey<Tuning>(DICOM_SOCKETS, "TcpNoDelay",
                                 "no Nagle: what Orthanc writes leaves at once",
                                 [](Tuning& t) -> bool& { return t.dicomSockets.tcpNoDelay; }),
          MakeBooleanKey<Tuning>(DICOM_SOCKETS, "TcpQuickAck",
                                 "no delayed ACK: what Orthanc reads is confirmed at once",
                                 [](Tuning& t) -> bool& { return t.dicomSockets.tcpQuickAck; }),
          MakeBufferKey("ReceiveBuffer",
                        "bytes, \"auto\": the kernel's autotuning, \"default\": as DCMTK set it",
                        &DicomSockets::receiveBuffer),
          MakeBufferKey("SendBuffer",
                        "bytes, \"auto\": the kernel's autotuning, \"default\": as DCMTK set it",
                        &DicomSockets::sendBuffer),
          MakeSecondsKey("KeepAliveSeconds", "silence before the kernel probes the peer; 0: off",
                         KEEP_ALIVE_RANGE, &DicomSockets::keepAlive),
          MakeSecondsKey("UserTimeoutSeconds",
                         "unacknowledged data for so long ends a connection; 0: the system's",
                         USER_TIMEOUT_RANGE, &DicomSockets::userTimeout),
          MakeCongestionControlKey(),
      };
    }


    std::vector<TuningKey> MakeTranscodingKeys()
    {
      return {
          MakeTransferSyntaxKey(),
          MakeEngineKey(),
          MakeBooleanKey<Tuning>(INGEST_TRANSCODING, "Verify",
                                 "decode the result and compare before it is stored",
                                 [](Tuning& t) -> bool& { return t.ingestTranscoding.verify; }),
          MakeIntegerKey<Tuning>(
              INGEST_TRANSCODING, "LossyQuality", "quality of lossy syntaxes, as in libjpeg",
              LOSSY_QUALITY_RANGE,
              [](const Tuning& t) { return std::int64_t(t.ingestTranscoding.lossyQuality); },
              [](Tuning& t, std::int64_t value)
              { t.ingestTranscoding.lossyQuality = static_cast<unsigned int>(value); }),
          MakeBooleanKey<Tuning>(
              INGEST_TRANSCODING, "OfCompressed", "what comes compressed is transcoded as well",
              [](Tuning& t) -> bool& { return t.ingestTranscoding.ofCompressed; }),
          MakeBooleanKey<Tuning>(
              INGEST_TRANSCODING, "OrthancTranscoding",
              "the engines also serve what Orthanc transcodes itself, losslessly",
              [](Tuning& t) -> bool& { return t.ingestTranscoding.orthancTranscoding; }),
      };
    }


    std::vector<TuningKey> MakeAllKeys()
    {
      std::vector<TuningKey> keys = MakeSocketKeys();

      for (const TuningKey& key : MakeTranscodingKeys())
      {
        keys.push_back(key);
      }

      return keys;
    }
  }


  const std::vector<TuningKey>& GetTuningKeys()
  {
    static const std::vector<TuningKey> ALL = MakeAllKeys();
    return ALL;
  }


  const std::vector<std::string>& GetTuningSections()
  {
    static const std::vector<std::string> ALL = {DICOM_SOCKETS, INGEST_TRANSCODING};
    return ALL;
  }


  const TuningKey* FindTuningKey(const std::string& section, const std::string& name)
  {
    for (const TuningKey& key : GetTuningKeys())
    {
      if (key.section == section && key.name == name)
      {
        return &key;
      }
    }

    return nullptr;
  }
}
