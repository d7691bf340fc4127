// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningReader.h"

#include "Dicom/TransferSyntax.h"
#include "Tuning/Json.h"
#include "Tuning/TuningSchema.h"

#include <boost/algorithm/string/join.hpp>

#include <algorithm>

namespace OrthancPerf
{
  namespace
  {
    // One reading of one document
    struct TuningReader
    {
      const std::string path;                    // of the document, for messages
      std::vector<std::string>* const warnings;  // of unknown keys; null: they are errors
      const bool isSaved = false;                // a wrong value is a warning as well

      Json::Value Read(const Json::Value& document) const
      {
        RequireObject(path, document, "an object");
        const std::vector<std::string>& sections = GetTuningSections();
        Json::Value canonical(Json::objectValue);

        for (const std::string& name : document.getMemberNames())
        {
          if (std::find(sections.begin(), sections.end(), name) == sections.end())
          {
            ReportUnknownKey(JoinPath(path, name), document[name]);
          }
          else
          {
            const Json::Value& section = document[name];
            Take(
                [&] {
                  canonical[name] =
                      section.isNull() ? NameAllKeys(name) : ReadSection(name, section);
                });
          }
        }

        return canonical;
      }

      void ReportUnknownKey(const std::string& key, const Json::Value& value) const
      {
        const SettingError error = SettingError::ForUnknownKey(key, value, GetTuningPaths(path));

        if (warnings != nullptr)
        {
          warnings->push_back(std::string(error.what()) + " is ignored");
          return;
        }

        // In a patch: as the configuration has it
        throw key == "Perf" || key == "Tuning"
            ? SettingError("Leave out \"" + key + "\": a change begins with its sections", key,
                           error.found, boost::algorithm::join(GetTuningSections(), ", "))
            : error;
      }

      template <typename Body>
      void Take(const Body& body) const
      {
        try
        {
          body();
        }
        catch (const SettingError& error)
        {
          if (!isSaved)
          {
            throw;
          }

          warnings->push_back(std::string(error.what()) + "; this saved change is ignored");
        }
      }

      // Each with null
      static Json::Value NameAllKeys(const std::string& section)
      {
        Json::Value keys(Json::objectValue);

        for (const TuningKey& key : GetTuningKeys())
        {
          if (key.section == section && key.name != PRESET)
          {
            keys[key.name] = Json::nullValue;
          }
        }

        return keys;
      }

      static void RequireObject(const std::string& path, const Json::Value& value,
                                const std::string& allowed)
      {
        if (!value.isObject())
        {
          throw SettingError::ForValue(path, value, allowed);
        }
      }

      Json::Value ReadSection(const std::string& section, const Json::Value& values) const
      {
        const std::string sectionPath = JoinPath(path, section);
        RequireObject(sectionPath, values, "an object or null");
        Json::Value canonical(Json::objectValue);

        if (section == DICOM_SOCKETS && values.isMember(PRESET))
        {
          canonical = ReadPreset(values[PRESET]);
        }

        for (const std::string& name : values.getMemberNames())
        {
          const TuningKey* const key = FindTuningKey(section, name);

          if (key == nullptr)
          {
            ReportUnknownKey(JoinPath(sectionPath, name), values[name]);
          }
          else if (name != PRESET)
          {
            const Json::Value& value = values[name];
            Take([&]
                 { canonical[name] = value.isNull() ? value : key->write(Apply(*key, value)); });
          }
        }

        return canonical;
      }

      // The values of all keys that the preset sets, each null if the preset is; none for "custom"
      Json::Value ReadPreset(const Json::Value& preset) const
      {
        if (preset.isNull())
        {
          return NameAllKeys(DICOM_SOCKETS);
        }

        const Tuning tuning = Apply(*FindTuningKey(DICOM_SOCKETS, PRESET), preset);
        Json::Value values = ToJson(tuning)[DICOM_SOCKETS];
        values.removeMember(PRESET);
        return preset == ToLabel(SocketPreset::Custom) ? Json::Value(Json::objectValue) : values;
      }

      Tuning Apply(const TuningKey& key, const Json::Value& value) const
      {
        Tuning tuning;

        if (!key.read(value, tuning))
        {
          throw SettingError::ForValue(JoinPath(path, key.GetPath()), value, key.allowed);
        }

        return tuning;
      }
    };

    bool Names(const Json::Value& document, const TuningKey& key)
    {
      return document.isMember(key.section) && document[key.section].isMember(key.name);
    }

    // 0: none, 1: without loss, 2: with loss
    double ToFigure(const std::string& transferSyntax)
    {
      return transferSyntax.empty() ? 0 : (IsLossy(transferSyntax) ? 2 : 1);
    }
  }

  Json::Value ReadTuningPatch(const Json::Value& patch)
  {
    return TuningReader{"", nullptr}.Read(patch);
  }

  Json::Value ReadTuningConfiguration(const Json::Value& document, const std::string& path,
                                      std::vector<std::string>& warnings, bool isSaved)
  {
    // A null is no change of what is there without it: merged into nothing, it is gone (RFC 7396)
    return MergeJson(Json::objectValue, TuningReader{path, &warnings, isSaved}.Read(document));
  }

  Tuning ApplyTuning(const Tuning& base, const Json::Value& document)
  {
    Tuning tuning = base;

    for (const TuningKey& key : GetTuningKeys())
    {
      const Json::Value section = document.get(key.section, Json::objectValue);

      if (section.isObject() && section.isMember(key.name))
      {
        key.read(section[key.name], tuning);
      }
    }

    return tuning;
  }

  Json::Value ToJson(const Tuning& tuning)
  {
    Json::Value json(Json::objectValue);

    for (const TuningKey& key : GetTuningKeys())
    {
      json[key.section][key.name] = key.write(tuning);
    }

    return json;
  }

  std::map<std::string, double> ToFigures(const Tuning& tuning)
  {
    std::map<std::string, double> figures = {
        {"DicomSockets.Preset", static_cast<double>(FindPreset(tuning.dicomSockets))},
        {"IngestTranscoding.TransferSyntax", ToFigure(tuning.ingestTranscoding.transferSyntax)},
        {"IngestTranscoding.Engine", static_cast<double>(tuning.ingestTranscoding.engine)},
    };

    for (const TuningKey& key : GetTuningKeys())
    {
      const Json::Value value = key.write(tuning);

      if (!value.isString())
      {
        figures.emplace(key.GetPath(), value.asDouble());
      }
      else if (value == BUFFER_AUTO || value == BUFFER_DEFAULT)
      {
        figures.emplace(key.GetPath(), value == BUFFER_AUTO ? 0 : -1);
      }
    }

    return figures;
  }

  Json::Value DescribeSources(const Json::Value& configuration, const Json::Value& overrides)
  {
    const Tuning configured = ApplyTuning(Tuning(), configuration);
    const Tuning inForce = ApplyTuning(configured, overrides);
    Json::Value json(Json::objectValue);

    for (const TuningKey& key : GetTuningKeys())
    {
      if (key.name == PRESET)
      {
        continue;
      }

      Json::Value& entry = json[key.section][key.name];
      entry["Value"] = key.write(inForce);

      if (Names(overrides, key))
      {
        entry["Source"] = "REST";
        entry["Configured"] = key.write(configured);
      }
      else
      {
        entry["Source"] = Names(configuration, key) ? "Configuration" : "Default";
      }
    }

    return json;
  }

  std::vector<std::string> GetTuningPaths(const std::string& path)
  {
    std::vector<std::string> paths;

    for (const std::string& section : GetTuningSections())
    {
      paths.push_back(JoinPath(path, section));
    }

    for (const TuningKey& key : GetTuningKeys())
    {
      paths.push_back(JoinPath(path, key.GetPath()));
    }

    return paths;
  }
}
