// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/RunWorker.h"

#include "Transcoding/Program/ProcessSetup.h"
#include "Transcoding/Worker/MessageSocket.h"
#include "Transcoding/Worker/SharedMemory.h"
#include "Transcoding/Worker/WorkerProtocol.h"

#include <cerrno>
#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <sys/mman.h>
#include <sys/socket.h>
#include <system_error>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    enum ExitCode
    {
      DONE = 0,
      NOT_STARTED_BY_PLUGIN = 64,  // sysexits.h: EX_USAGE
      BROKEN_CONVERSATION = 66
    };

    bool IsSocket(int descriptor)
    {
      int type = 0;
      socklen_t length = sizeof(type);
      return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
             type == SOCK_SEQPACKET;
    }

    // The file that the plugin has put into the shared memory, as bytes of this process: mmap(2)
    class SourceView
    {
    public:
      explicit SourceView(std::size_t size) : size_(size)
      {
        if (size_ > 0)
        {
          data_ = mmap(nullptr, size_, PROT_READ, MAP_SHARED | MAP_POPULATE, WORKER_MEMORY, 0);

          if (data_ == MAP_FAILED)
          {
            throw std::system_error(errno, std::generic_category(), "mmap");
          }
        }
      }

      SourceView(const SourceView&) = delete;
      SourceView& operator=(const SourceView&) = delete;

      ~SourceView()
      {
        if (size_ > 0)
        {
          munmap(data_, size_);
        }
      }

      const void* GetData() const noexcept
      {
        return data_;
      }

    private:
      void* data_ = nullptr;
      const std::size_t size_;
    };

    EngineResult Run(const ITranscodingEngine& engine, const WorkerRequest& request)
    {
      TranscodingTarget target;
      target.transferSyntax = GetText(request.transferSyntax);
      target.lossyQuality = request.lossyQuality;

      const SourceView source(request.sourceSize);
      return engine.Transcode(source.GetData(), request.sourceSize, target);
    }

    WorkerResponse Serve(const ITranscodingEngine& engine, const WorkerRequest& request,
                         SharedMemory& memory)
    {
      EngineResult result = Run(engine, request);

      if (result.file.size() > request.maximumResult)
      {
        result = EngineResult::MakeFailed("the result would be larger than " +
                                          std::to_string(request.maximumResult) + " bytes");
      }

      WorkerResponse response;
      response.outcome = static_cast<std::uint32_t>(result.outcome);
      response.resultSize = result.file.size();
      SetText(response.reason, result.reason);
      memory.Write(result.file.data(), result.file.size());
      return response;
    }

    WorkerResponse MakeFailure(const std::string& reason)
    {
      WorkerResponse response;
      response.outcome = static_cast<std::uint32_t>(TranscodingOutcome::Failed);
      SetText(response.reason, reason);
      return response;
    }

    WorkerResponse Answer(const ITranscodingEngine& engine, const WorkerRequest& request,
                          SharedMemory& memory)
    {
      LimitRequest(request.maximumSeconds, request.maximumMemory);
      WorkerResponse response;

      try
      {
        response = Serve(engine, request, memory);
      }
      catch (const std::bad_alloc&)
      {
        response = MakeFailure("more memory would be needed than " +
                               std::to_string(request.maximumMemory) + " bytes");
      }
      catch (const std::exception& error)
      {
        response = MakeFailure(error.what());
      }

      UnlimitTime();
      return response;
    }

    ExitCode ServeAll(const ITranscodingEngine& engine)
    {
      MessageSocket socket((FileDescriptor(WORKER_SOCKET)));
      SharedMemory memory((FileDescriptor(WORKER_MEMORY)));

      WorkerHello hello;
      SetText(hello.version, PERF_VERSION);

      if (!socket.Send(hello))
      {
        return BROKEN_CONVERSATION;
      }

      WorkerRequest request;

      // The end, and a minute without work, are the ways in which this ends in order
      while (socket.Receive(request, WORKER_IDLE_LIMIT) == MessageSocket::Receipt::Received)
      {
        if (request.magic != WORKER_MAGIC || !socket.Send(Answer(engine, request, memory)))
        {
          return BROKEN_CONVERSATION;
        }
      }

      return DONE;
    }
  }


  int RunWorker(const ITranscodingEngine& engine)
  {
    if (!IsSocket(WORKER_SOCKET))
    {
      std::cerr << "This program belongs to the performance plugin for Orthanc "
                   "(libOrthancPerf.so), which starts it when it is needed.\n";
      return NOT_STARTED_BY_PLUGIN;
    }

    BecomeWorker();
    return ServeAll(engine);
  }

}
