// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/Orthanc.h"

#include <cstddef>
#include <cstring>
#include <limits>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Tells "never set" from any value that the plugin stores, which is JSON
    constexpr const char* NEVER_SET = "";

    // Services that came after 1.10.1, the oldest header that the plugin is compiled with. They are
    // called where the running Orthanc has them. Orthanc never changes their numbers and parameters
    // (the SDK is a binary interface); where a newer header is there, the compiler compares.

    // _OrthancPluginSetMetricsIntegerValue, from Orthanc 1.12.1 on: the older service knows floats
    // only, which count to 16,777,216
    struct IntegerMetric
    {
      static constexpr std::int32_t SERVICE = 43;

      const char* name;
      std::int64_t value;
      OrthancPluginMetricsType type;
    };


    // _OrthancPluginLogMessage, from Orthanc 1.12.4 on: the line names the plugin, and the place in
    // it, for which Orthanc wants a file and takes any text
    struct Message
    {
      static constexpr std::int32_t SERVICE = 45;
      static constexpr std::int32_t GENERIC = 1;  // the category; those of plugins are not for them
      static constexpr std::int32_t ERROR = 0;    // levels
      static constexpr std::int32_t WARNING = 1;

      const char* message;
      const char* plugin;
      const char* file;
      std::uint32_t line;
      std::int32_t category;
      std::int32_t level;
    };

#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 12, 4)
    static_assert(IntegerMetric::SERVICE == _OrthancPluginService_SetMetricsIntegerValue);
    static_assert(sizeof(IntegerMetric) == sizeof(_OrthancPluginSetMetricsIntegerValue));
    static_assert(offsetof(IntegerMetric, type) ==
                  offsetof(_OrthancPluginSetMetricsIntegerValue, type));
    static_assert(Message::SERVICE == _OrthancPluginService_LogMessage);
    static_assert(Message::GENERIC == OrthancPluginLogCategory_Generic);
    static_assert(Message::WARNING == OrthancPluginLogLevel_Warning);
    static_assert(sizeof(Message) == sizeof(_OrthancPluginLogMessage));
    static_assert(offsetof(Message, category) == offsetof(_OrthancPluginLogMessage, category));
    static_assert(offsetof(Message, level) == offsetof(_OrthancPluginLogMessage, level));
#endif


    template <typename Parameters>
    bool Invoke(OrthancPluginContext* context, const Parameters& parameters)
    {
      return context->InvokeService(context,
                                    static_cast<_OrthancPluginService>(Parameters::SERVICE),
                                    &parameters) == OrthancPluginErrorCode_Success;
    }


    // JSON that Orthanc itself has written
    Json::Value ReadJson(const std::string& text)
    {
      const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
      Json::Value value;
      std::string errors;

      if (!reader->parse(text.data(), text.data() + text.size(), &value, &errors))
      {
        throw std::runtime_error("Orthanc's answer is not JSON: " + errors);
      }

      return value;
    }

    // What Orthanc answers with, given back to it at the end
    class AnswerBuffer
    {
    public:
      explicit AnswerBuffer(OrthancPluginContext* context) : context_(context)
      {
      }

      AnswerBuffer(const AnswerBuffer&) = delete;
      AnswerBuffer& operator=(const AnswerBuffer&) = delete;

      ~AnswerBuffer()
      {
        OrthancPluginFreeMemoryBuffer(context_, &buffer_);
      }

      OrthancPluginMemoryBuffer* GetTarget()
      {
        return &buffer_;
      }

      std::string ToString() const
      {
        return std::string(static_cast<const char*>(buffer_.data), buffer_.size);
      }

    private:
      OrthancPluginContext* const context_;
      OrthancPluginMemoryBuffer buffer_ = {};
    };

    // Those that have no cause in what was asked; Orthanc's own text needs its context
    std::string DescribeCode(OrthancPluginErrorCode code)
    {
      std::string number = std::to_string(static_cast<int>(code));

      switch (code)
      {
        case OrthancPluginErrorCode_Database:
          return number + " (its database has failed)";
        case OrthancPluginErrorCode_DatabaseUnavailable:
          return number + " (its database does not answer)";
        default:
          return number;
      }
    }

    void Check(OrthancPluginErrorCode code, const std::string& service)
    {
      if (code != OrthancPluginErrorCode_Success)
      {
        throw SdkError(service, code);
      }
    }
  }

  SdkError::SdkError(const std::string& service, OrthancPluginErrorCode code) :
    std::runtime_error(service + " answered with Orthanc's error code " + DescribeCode(code))
  {
  }

  Orthanc::Orthanc(OrthancPluginContext* context) : context_(context)
  {
  }

  std::string Orthanc::GetVersion() const
  {
    return context_->orthancVersion;
  }

  bool Orthanc::IsAtLeast(int minor, int revision) const
  {
    return OrthancPluginCheckVersionAdvanced(context_, 1, minor, revision) == 1;
  }

  void Orthanc::LogError(const std::string& line, const char* function, std::uint32_t place) const
  {
    const std::string text = "Perf: " + line;

    const Message message = {text.c_str(), PLUGIN_NAME,      function,
                             place,        Message::GENERIC, Message::ERROR};

    if (!IsAtLeast(12, 4) || !Invoke(context_, message))
    {
      OrthancPluginLogError(context_, text.c_str());
    }
  }

  void Orthanc::LogWarning(const std::string& line, const char* function, std::uint32_t place) const
  {
    const std::string text = "Perf: " + line;

    const Message message = {text.c_str(), PLUGIN_NAME,      function,
                             place,        Message::GENERIC, Message::WARNING};

    if (!IsAtLeast(12, 4) || !Invoke(context_, message))
    {
      OrthancPluginLogWarning(context_, text.c_str());
    }
  }

  void Orthanc::SetMetric(const std::string& name, double value) const
  {
    OrthancPluginSetMetricsValue(context_, name.c_str(), static_cast<float>(value),
                                 OrthancPluginMetricsType_Default);
  }

  void Orthanc::SetMetric(const std::string& name, std::int64_t value) const
  {
    const IntegerMetric metric = {name.c_str(), value, OrthancPluginMetricsType_Default};

    if (!IsAtLeast(12, 1) || !Invoke(context_, metric))
    {
      SetMetric(name, static_cast<double>(value));
    }
  }

  Json::Value Orthanc::GetConfiguration() const
  {
    const String text = Own(OrthancPluginGetConfiguration(context_));

    if (!text)
    {
      throw SdkError("GetConfiguration", OrthancPluginErrorCode_InternalError);
    }

    return ReadJson(text.get());
  }

  std::optional<std::string> Orthanc::GetGlobalProperty(std::int32_t property) const
  {
    const String text = Own(OrthancPluginGetGlobalProperty(context_, property, NEVER_SET));

    if (!text)
    {
      throw SdkError("GetGlobalProperty", OrthancPluginErrorCode_Database);
    }

    const std::string value(text.get());
    return value == NEVER_SET ? std::nullopt : std::optional<std::string>(value);
  }

  void Orthanc::SetGlobalProperty(std::int32_t property, const std::string& value) const
  {
    Check(OrthancPluginSetGlobalProperty(context_, property, value.c_str()), "SetGlobalProperty");
  }

  // One row of the table of changes, by its key
  void Orthanc::AskDatabase() const
  {
    GetFromRestApi("/changes?last");
  }

  void Orthanc::LookUp(const std::string& identifier) const
  {
    AnswerBuffer answer(context_);
    Check(OrthancPluginRestApiPost(context_, answer.GetTarget(), "/tools/lookup", identifier.data(),
                                   static_cast<std::uint32_t>(identifier.size())),
          "POST /tools/lookup");
  }

  bool Orthanc::HasInstance(const std::string& instanceId) const
  {
    return FindTextInRestApi("/instances/" + instanceId + "/attachments/dicom/size").has_value();
  }

  std::set<std::string> Orthanc::ListJobTypes() const
  {
    static const std::set<std::string> STATES = {"Running", "Paused", "Retry"};
    std::set<std::string> types;

    for (const Json::Value& job : GetFromRestApi("/jobs?expand"))
    {
      if (STATES.count(job["State"].asString()) != 0)
      {
        types.insert(job["Type"].asString());
      }
    }

    return types;
  }

  void Orthanc::CopyTo(OrthancPluginMemoryBuffer& buffer, const std::string& bytes) const
  {
    Check(bytes.size() > std::numeric_limits<std::uint32_t>::max()
              ? OrthancPluginErrorCode_NotEnoughMemory
              : OrthancPluginCreateMemoryBuffer(context_, &buffer,
                                                static_cast<std::uint32_t>(bytes.size())),
          "CreateMemoryBuffer");
    std::memcpy(buffer.data, bytes.data(), bytes.size());
  }

  void Orthanc::CopyTo(OrthancPluginMemoryBuffer64& buffer, const std::string& bytes) const
  {
    Check(OrthancPluginCreateMemoryBuffer64(context_, &buffer, bytes.size()),
          "CreateMemoryBuffer64");
    std::memcpy(buffer.data, bytes.data(), bytes.size());
  }

  Json::Value Orthanc::GetFromRestApi(const std::string& uri) const
  {
    if (std::optional<Json::Value> answer = FindInRestApi(uri))
    {
      return std::move(*answer);
    }

    throw SdkError("GET " + uri, OrthancPluginErrorCode_UnknownResource);
  }

  std::optional<Json::Value> Orthanc::FindInRestApi(const std::string& uri) const
  {
    const std::optional<std::string> text = FindTextInRestApi(uri);
    return text ? std::optional<Json::Value>(ReadJson(*text)) : std::nullopt;
  }

  std::string Orthanc::GetInstanceFile(const std::string& instanceId) const
  {
    AnswerBuffer answer(context_);
    Check(OrthancPluginGetDicomForInstance(context_, answer.GetTarget(), instanceId.c_str()),
          "GetDicomForInstance");
    return answer.ToString();
  }

  std::optional<std::string> Orthanc::FindTextInRestApi(const std::string& uri) const
  {
    AnswerBuffer answer(context_);
    const OrthancPluginErrorCode code =
        OrthancPluginRestApiGet(context_, answer.GetTarget(), uri.c_str());

    switch (code)
    {
      case OrthancPluginErrorCode_Success:
        return answer.ToString();

      case OrthancPluginErrorCode_UnknownResource:
      case OrthancPluginErrorCode_InexistentItem:
        return std::nullopt;

      default:
        throw SdkError("GET " + uri, code);
    }
  }
}
