// SPDX-License-Identifier: GPL-3.0-or-later
//
// A storage area that names its files as it likes, in several folders, and writes them as its
// section of Orthanc's configuration says:
//
//   "StoragePlugin" : {
//     "Roots" : [ "/first", "/second" ],  // existing folders, which take turns
//     "Thread" : true,                    // another one writes: the one that stores has no file
//     "Sync" : true,                      // each file
//     "Hold" : 50                         // milliseconds for which each file stays open
//   }

#include "PluginSection.h"

#include <orthanc/OrthancCPlugin.h>

#include <json/json.h>

#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <future>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

namespace
{
  struct State
  {
    OrthancPluginContext* context = nullptr;
    std::vector<std::string> roots;
    bool isThread = false;
    bool isSynced = false;
    std::chrono::milliseconds hold{0};
    std::mutex mutex;
    std::map<std::string, std::string> paths;  // by UUID
  };

  // The SDK hands no user data to these callbacks
  State& GetState()
  {
    static State state;
    return state;
  }

  std::string MakePath(const char* uuid)
  {
    State& state = GetState();
    const std::lock_guard lock(state.mutex);
    const std::size_t number = state.paths.size();
    const std::string& root = state.roots[number % state.roots.size()];
    const std::string name = std::to_string(getpid()) + ", image No. " + std::to_string(number);
    return state.paths[uuid] = root + "/" + name + ".dcm";
  }

  bool Write(const std::string& path, std::string_view content)
  {
    const State& state = GetState();
    const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    const bool isWritten =
        write(fd, content.data(), content.size()) == static_cast<ssize_t>(content.size());
    std::this_thread::sleep_for(state.hold);
    const bool isSynced = !state.isSynced || fsync(fd) == 0;
    return close(fd) == 0 && isWritten && isSynced;
  }

  OrthancPluginErrorCode CreateFile(const char* uuid, const void* content, std::int64_t size,
                                    OrthancPluginContentType)
  {
    const std::string_view file(static_cast<const char*>(content), static_cast<std::size_t>(size));
    const std::launch where = GetState().isThread ? std::launch::async : std::launch::deferred;
    return std::async(where, Write, MakePath(uuid), file).get()
               ? OrthancPluginErrorCode_Success
               : OrthancPluginErrorCode_CannotWriteFile;
  }

  OrthancPluginErrorCode ReadFile(OrthancPluginMemoryBuffer64* target, const char* uuid,
                                  OrthancPluginContentType)
  {
    State& state = GetState();
    const std::lock_guard lock(state.mutex);
    std::ostringstream file;
    file << std::ifstream(state.paths[uuid], std::ios::binary).rdbuf();
    return GiveFile(state.context, target, file.str());
  }

  OrthancPluginErrorCode RemoveFile(const char* uuid, OrthancPluginContentType)
  {
    State& state = GetState();
    const std::lock_guard lock(state.mutex);
    return std::remove(state.paths[uuid].c_str()) == 0 ? OrthancPluginErrorCode_Success
                                                       : OrthancPluginErrorCode_InexistentFile;
  }
}

extern "C"
{
  ORTHANC_PLUGINS_API std::int32_t OrthancPluginInitialize(OrthancPluginContext* context)
  {
    State& state = GetState();
    state.context = context;

    const Json::Value section = ReadSection(context, "StoragePlugin");
    state.isThread = section["Thread"].asBool();
    state.isSynced = section["Sync"].asBool();
    state.hold = std::chrono::milliseconds(section["Hold"].asInt());

    for (const Json::Value& root : section["Roots"])
    {
      state.roots.push_back(root.asString());
    }

    // Without a range to read, Orthanc stores what stands before the pixels in a file of its own
    OrthancPluginRegisterStorageArea2(context, CreateFile, ReadFile, nullptr, RemoveFile);
    return state.roots.empty() ? -1 : 0;
  }

  ORTHANC_PLUGINS_API void OrthancPluginFinalize()
  {
  }

  ORTHANC_PLUGINS_API const char* OrthancPluginGetName()
  {
    return "storage";
  }

  ORTHANC_PLUGINS_API const char* OrthancPluginGetVersion()
  {
    return "1.0";
  }
}
