// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <json/value.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

namespace OrthancPerf
{
  // What Linux allows a socket's buffers, in bytes; 0: not known
  struct KernelLimits
  {
    std::uint64_t largestReceiveBuffer = 0;     // net.core.rmem_max: what may be asked for
    std::uint64_t largestSendBuffer = 0;        // net.core.wmem_max
    std::uint64_t largestAutomaticReceive = 0;  // net.ipv4.tcp_rmem, the third: autotuning's end

    // As they are now, from /proc/sys
    static KernelLimits Read();
  };

  using OrthancRelease = std::array<unsigned int, 3>;  // {1, 12, 2}


  // What is known of this Orthanc besides its traffic. A value.
  class ServerFacts
  {
  public:
    Json::Value configuration = Json::objectValue;  // Orthanc's, all of it
    std::string orthancVersion;                     // "1.12.7"; "mainline" is newer than all
    KernelLimits kernel;
    std::uint64_t memory = 0;  // bytes that Orthanc may have; 0: not known
    unsigned int cores = 1;
    bool hasDatabasePlugin = false;  // else SQLite
    std::string databaseSection;     // see ServerConfiguration
    std::string indexFile;           // SQLite's; empty: there is none
    std::optional<std::uint64_t> storedInstances;
    std::optional<double> lookupTime;  // seconds of POST /tools/lookup; not of a small store

    // Whether this is an Orthanc before that release; not if it says no version
    bool IsOlderThan(const OrthancRelease& release) const;

    bool IsStorageInDatabase() const;  // "EnableStorage" of databaseSection

    // An option of Orthanc's configuration, or its default
    bool IsOn(const char* option, bool defaultValue) const;
    std::uint64_t GetNumber(const char* option, std::uint64_t defaultValue) const;
    std::string GetText(const char* option, const char* defaultValue) const;
  };

  // How many tasks run or want to run now, for each processor, this one left out (proc_loadavg(5),
  // the fourth field). Unlike the load average, it leaves out what waits for a disk. 0: not known.
  double ReadRunnableTasks();

  // What this process has of memory, in bytes, by a key of /proc/self/status (proc(5)): "VmHWM:",
  // the most that it ever had; "RssAnon:", what is no file's. 0: not known.
  std::uint64_t ReadProcessMemory(const char* key);
}
