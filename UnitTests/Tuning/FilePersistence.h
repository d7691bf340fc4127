// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Tuning/TuningStore.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace OrthancPerf
{
  // What has Load() and Save()
  template <typename Persistence>
  TuningPersistence Use(Persistence& persistence)
  {
    return {[&persistence] { return persistence.Load(); },
            [&persistence](const std::string& text)
            {
              persistence.Save(text);
            }};
  }

  // Keeps the tuning in a file. A path in a folder that does not exist fails for real.
  class FilePersistence
  {
  public:
    explicit FilePersistence(std::filesystem::path path) : path_(std::move(path))
    {
    }

    std::optional<std::string> Load()
    {
      RequireFolder();
      std::ifstream file(path_);

      if (!file)
      {
        return std::nullopt;
      }

      std::stringstream text;
      text << file.rdbuf();
      return text.str();
    }

    void Save(const std::string& text)
    {
      RequireFolder();

      if (text.empty())
      {
        std::filesystem::remove(path_);
        clears_++;
        return;
      }

      std::ofstream file(path_, std::ios::trunc);
      file << text;
      saves_++;
    }

    int CountSaves() const
    {
      return saves_;
    }

    int CountClears() const
    {
      return clears_;
    }

  private:
    void RequireFolder() const
    {
      if (!std::filesystem::is_directory(path_.parent_path()))
      {
        throw std::runtime_error("no such folder: " + path_.parent_path().string());
      }
    }

    const std::filesystem::path path_;
    int saves_ = 0;
    int clears_ = 0;
  };

  // A folder of its own for a test, removed at its end
  class TemporaryFolder
  {
  public:
    TemporaryFolder()
    {
      std::string name = (std::filesystem::temp_directory_path() / "TuningXXXXXX").string();

      if (mkdtemp(name.data()) == nullptr)
      {
        throw std::runtime_error("cannot create a temporary folder");
      }

      path_ = name;
    }

    ~TemporaryFolder()
    {
      std::error_code ignored;
      std::filesystem::remove_all(path_, ignored);
    }

    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    const std::filesystem::path& GetPath() const
    {
      return path_;
    }

  private:
    std::filesystem::path path_;
  };
}
