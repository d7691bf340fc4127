// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <orthanc/OrthancCPlugin.h>

#include <json/json.h>

#include <cstdint>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>

namespace OrthancPerf
{
  constexpr const char* PLUGIN_NAME = "perf";

  // A service of Orthanc's SDK that answered with an error; what() names service and error
  class SdkError : public std::runtime_error
  {
  public:
    SdkError(const std::string& service, OrthancPluginErrorCode code);
  };

  // Orthanc, as the plugin sees it: logs, configuration, its database of global properties, its
  // store. A thin and stateless wrapper of the SDK's context, owned by the plugin's context; any
  // thread may call it, as the services that it uses are safe without Orthanc's plugin lock.
  class Orthanc
  {
  public:
    explicit Orthanc(OrthancPluginContext* context);

    OrthancPluginContext* GetContext() const
    {
      return context_;
    }

    std::string GetVersion() const;

    void LogError(const std::string& line) const;
    void LogWarning(const std::string& line) const;

    // Sets one of the metrics of Orthanc's own /tools/metrics-prometheus: a float of 24 bits
    void SetMetric(const std::string& name, double value) const;

    void SetDescription(const char* description) const;

    // Orthanc Explorer gets a button that opens the dashboard; its list of plugins, and the
    // settings of Orthanc Explorer 2, a link
    void AddToExplorers() const;

    // A copy of a text of Orthanc's, which is given back; nothing if there is none
    std::optional<std::string> Take(char* text) const;

    Json::Value GetConfiguration() const;

    // A string that plugins keep in Orthanc's database, under a number of 1024 or more; nothing
    // if it was never set. Available once Orthanc has started. Throws SdkError.
    std::optional<std::string> GetGlobalProperty(std::int32_t property) const;
    void SetGlobalProperty(std::int32_t property, const std::string& value) const;

    // Returns once the database has looked for a patient, a study, a series and an instance of this
    // identifier. Throws SdkError.
    void LookUp(const std::string& identifier) const;

    // The types of the jobs that run, or are paused, in which their threads may still be at work.
    // Throws SdkError.
    std::set<std::string> ListJobTypes() const;

    // Makes the buffer, which Orthanc will free, a copy of the bytes. Throws SdkError.
    void CopyTo(OrthancPluginMemoryBuffer& buffer, const std::string& bytes) const;
    void CopyTo(OrthancPluginMemoryBuffer64& buffer, const std::string& bytes) const;

    // The answer to a GET request to Orthanc's own REST API, as JSON. Throws SdkError.
    Json::Value GetFromRestApi(const std::string& uri) const;

    // The same; nothing if Orthanc knows no such resource
    std::optional<Json::Value> FindInRestApi(const std::string& uri) const;

    // The DICOM file of a stored instance, as it is in the store. Throws SdkError.
    std::string GetInstanceFile(const std::string& instanceId) const;

  private:
    OrthancPluginContext* const context_;
  };
}
