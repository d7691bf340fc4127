// SPDX-License-Identifier: GPL-3.0-or-later
#include "Sdk/Orthanc.h"

#include "Tuning/Json.h"

#include <cstring>
#include <limits>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // Tells "never set" from any value that the plugin stores, which is JSON
    constexpr const char* NEVER_SET = "";

    // Both explorers make it relative to their own address, so that a prefix of a proxy stays
    constexpr const char* ROOT_URI = "/perf";

    // Before jQuery Mobile has turned the links of the first page into buttons; "external" keeps it
    // from loading the dashboard into its own page
    constexpr const char* BUTTON = R"(
$('#lookup').live('pagebeforecreate', function() {
  $('<a>')
    .attr({ id: 'perf-dashboard', href: '../perf', rel: 'external', 'data-role': 'button',
          'data-icon': 'info' })
    .text('Performance')
    .appendTo($('#lookup div.ui-btn-right'));
});
)";

    // What Orthanc answers with, given back to it at the end
    struct AnswerBuffer
    {
      explicit AnswerBuffer(OrthancPluginContext* context) : context(context)
      {
      }

      AnswerBuffer(const AnswerBuffer&) = delete;
      AnswerBuffer& operator=(const AnswerBuffer&) = delete;

      ~AnswerBuffer()
      {
        OrthancPluginFreeMemoryBuffer(context, &buffer);
      }

      std::string ToString() const
      {
        return std::string(static_cast<const char*>(buffer.data), buffer.size);
      }

      OrthancPluginContext* const context;
      OrthancPluginMemoryBuffer buffer = {};
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

  void Orthanc::LogError(const std::string& line) const
  {
    OrthancPluginLogError(context_, ("Perf: " + line).c_str());
  }

  void Orthanc::LogWarning(const std::string& line) const
  {
    OrthancPluginLogWarning(context_, ("Perf: " + line).c_str());
  }

  void Orthanc::SetMetric(const std::string& name, double value) const
  {
    OrthancPluginSetMetricsValue(context_, name.c_str(), static_cast<float>(value),
                                 OrthancPluginMetricsType_Default);
  }

  void Orthanc::SetDescription(const char* description) const
  {
#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 12, 4)
    OrthancPluginSetDescription2(context_, PLUGIN_NAME, description);
#else
    OrthancPluginSetDescription(context_, description);
#endif
  }

  void Orthanc::AddToExplorers() const
  {
#if ORTHANC_PLUGINS_VERSION_IS_ABOVE(1, 12, 4)
    OrthancPluginSetRootUri2(context_, PLUGIN_NAME, ROOT_URI);
    OrthancPluginExtendOrthancExplorer2(context_, PLUGIN_NAME, BUTTON);
#else
    // These ask the plugin itself for its name
    OrthancPluginSetRootUri(context_, ROOT_URI);
    OrthancPluginExtendOrthancExplorer(context_, BUTTON);
#endif
  }

  std::optional<std::string> Orthanc::Take(char* text) const
  {
    std::optional<std::string> copy =
        text == nullptr ? std::nullopt : std::optional<std::string>(text);
    OrthancPluginFreeString(context_, text);
    return copy;
  }

  Json::Value Orthanc::GetConfiguration() const
  {
    const std::optional<std::string> text = Take(OrthancPluginGetConfiguration(context_));

    if (!text)
    {
      throw SdkError("GetConfiguration", OrthancPluginErrorCode_InternalError);
    }

    return ReadJson(*text);
  }

  std::optional<std::string> Orthanc::GetGlobalProperty(std::int32_t property) const
  {
    const std::optional<std::string> text =
        Take(OrthancPluginGetGlobalProperty(context_, property, NEVER_SET));

    if (!text)
    {
      throw SdkError("GetGlobalProperty", OrthancPluginErrorCode_Database);
    }

    return text == NEVER_SET ? std::nullopt : text;
  }

  void Orthanc::SetGlobalProperty(std::int32_t property, const std::string& value) const
  {
    Check(OrthancPluginSetGlobalProperty(context_, property, value.c_str()), "SetGlobalProperty");
  }

  void Orthanc::LookUp(const std::string& identifier) const
  {
    AnswerBuffer answer(context_);
    Check(OrthancPluginRestApiPost(context_, &answer.buffer, "/tools/lookup", identifier.data(),
                                   static_cast<std::uint32_t>(identifier.size())),
          "POST /tools/lookup");
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

  std::string Orthanc::GetInstanceFile(const std::string& instanceId) const
  {
    AnswerBuffer answer(context_);
    Check(OrthancPluginGetDicomForInstance(context_, &answer.buffer, instanceId.c_str()),
          "GetDicomForInstance");
    return answer.ToString();
  }

  std::optional<Json::Value> Orthanc::FindInRestApi(const std::string& uri) const
  {
    AnswerBuffer answer(context_);
    const OrthancPluginErrorCode code =
        OrthancPluginRestApiGet(context_, &answer.buffer, uri.c_str());

    switch (code)
    {
      case OrthancPluginErrorCode_Success:
        return ReadJson(answer.ToString());

      case OrthancPluginErrorCode_UnknownResource:
      case OrthancPluginErrorCode_InexistentItem:
        return std::nullopt;

      default:
        throw SdkError("GET " + uri, code);
    }
  }
}
