// SPDX-License-Identifier: GPL-3.0-or-later
// Encode... MILLISECONDS FILE...: encodes each file again and again for so long, and prints a line
// for each, with tabs between: name, its size, size of the result, and the processor time of one
// encoding in seconds (of the fastest and of the mean). Processor time, as others may use the
// machine; all is done in one thread. A file that the library does not encode has a size of 0.
#include "Encoder.h"

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>

namespace
{
  // Of this process: clock_gettime(2)
  double GetProcessorTime()
  {
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) / 1e9;
  }


  std::string ReadFile(const std::filesystem::path& path)
  {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }


  void Measure(const std::filesystem::path& path, double seconds)
  {
    const std::string file = ReadFile(path);
    std::size_t size = 0;
    double fastest = std::numeric_limits<double>::max();
    double sum = 0;
    unsigned int count = 0;

    try
    {
      OrthancPerf::EncodeFile(file);  // the first time is no measure

      while (sum < seconds || count < 3)
      {
        const double begin = GetProcessorTime();
        size = OrthancPerf::EncodeFile(file).size();
        const double duration = GetProcessorTime() - begin;
        fastest = std::min(fastest, duration);
        sum += duration;
        count++;
      }
    }
    catch (const std::exception& error)
    {
      std::cerr << path.filename().string() << ": " << error.what() << std::endl;
      size = 0;
    }

    std::cout << path.filename().string() << '\t' << file.size() << '\t' << size << '\t' << fastest
              << '\t' << sum / std::max(count, 1U) << std::endl;
  }
}


int main(int argc, char** argv)
{
  if (argc < 3)
  {
    std::cerr << argv[0] << " MILLISECONDS FILE..." << std::endl;
    return 2;
  }

  for (int i = 2; i < argc; i++)
  {
    Measure(argv[i], std::stod(argv[1]) / 1000);
  }

  return 0;
}
