// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/TuningReader.h"

#include "Tuning/JsonMergePatch.h"
#include "Tuning/SettingError.h"
#include "Tuning/TuningSchema.h"
#include "Tuning/UnknownKeys.h"

#include <algorithm>
#include <utility>

namespace OrthancPerf
{
  namespace
  {
    // One reading of one document
    class TuningReader
    {
    public:
      TuningReader(std::string path, UnknownKeys unknownKeys) :
        path_(std::move(path)),
        unknownKeys_(std::move(unknownKeys))
      {
      }

      Json::Value Read(const Json::Value& document) const
      {
        RequireObject(path_, document, "an object");
        Json::Value canonical(Json::objectValue);

        for (const std::string& name : document.getMemberNames())
        {
          const std::vector<std::string>& sections = GetTuningSections();

          if (std::find(sections.begin(), sections.end(), name) == sections.end())
          {
            unknownKeys_.Report(path_, name, document[name]);
          }
          else if (document[name].isNull())
          {
            canonical[name] = Json::nullValue;
          }
          else
          {
            canonical[name] = ReadSection(name, document[name]);
          }
        }

        return canonical;
      }

    private:
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
        RequireObject(JoinPath(path_, section), values, "an object or null");
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
            unknownKeys_.Report(JoinPath(path_, section), name, values[name]);
          }
          else if (name != PRESET)
          {
            canonical[name] = ReadValue(*key, values[name]);
          }
        }

        return canonical;
      }

      // The values of all keys that the preset sets; null is each key's null
      Json::Value ReadPreset(const Json::Value& preset) const
      {
        const Json::Value label = ReadValue(*FindTuningKey(DICOM_SOCKETS, PRESET), preset);
        Json::Value expanded(Json::objectValue);

        if (label == ToLabel(SocketPreset::Custom))
        {
          return expanded;
        }

        const Tuning tuning = ApplyPreset(preset);

        for (const TuningKey& key : GetTuningKeys())
        {
          if (key.section == DICOM_SOCKETS && key.name != PRESET)
          {
            expanded[key.name] = label.isNull() ? Json::Value() : key.write(tuning);
          }
        }

        return expanded;
      }

      static Tuning ApplyPreset(const Json::Value& preset)
      {
        Tuning tuning;
        FindTuningKey(DICOM_SOCKETS, PRESET)->read(preset, tuning);
        return tuning;
      }

      // The value in its canonical form
      Json::Value ReadValue(const TuningKey& key, const Json::Value& value) const
      {
        if (value.isNull())
        {
          return Json::Value();
        }

        Tuning tuning;

        if (!key.read(value, tuning))
        {
          throw SettingError::ForValue(JoinPath(path_, key.GetPath()), value, key.allowed);
        }

        // "custom" could not be written back: it has no values of its own
        return key.name == PRESET ? value : key.write(tuning);
      }

      const std::string path_;
      const UnknownKeys unknownKeys_;
    };
  }


  Json::Value ReadTuningPatch(const Json::Value& patch)
  {
    return TuningReader("", UnknownKeys(GetTuningPaths(""))).Read(patch);
  }


  Json::Value ReadTuningConfiguration(const Json::Value& document, const std::string& path,
                                      std::vector<std::string>& warnings)
  {
    UnknownKeys unknownKeys(GetTuningPaths(path));
    unknownKeys.CollectWarningsIn(warnings);

    // A null is no change of what is there without it: merged into nothing, it is gone (RFC 7396)
    return MergeJson(Json::objectValue, TuningReader(path, unknownKeys).Read(document));
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
