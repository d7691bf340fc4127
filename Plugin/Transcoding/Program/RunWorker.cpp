// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/RunWorker.h"

#include "Transcoding/Program/ProcessSetup.h"
#include "Transcoding/Program/SourceView.h"
#include "Transcoding/Worker/MessageSocket.h"
#include "Transcoding/Worker/SharedMemory.h"
#include "Transcoding/Worker/WorkerProtocol.h"

#include <exception>
#include <iostream>
#include <new>
#include <string>
#include <sys/socket.h>
#include <unistd.h>

namespace OrthancPerf
{
  namespace
  {
    enum ExitCode
    {
      DONE = 0,
      NOT_STARTED_BY_PLUGIN = 64,  // sysexits.h: EX_USAGE
      NO_SUCH_ENGINE = 65,
      BROKEN_CONVERSATION = 66
    };

    bool IsSocket(int descriptor)
    {
      int type = 0;
      socklen_t length = sizeof(type);
      return getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) == 0 &&
             type == SOCK_SEQPACKET;
    }

    const ITranscodingEngine*
    FindEngine(const std::vector<std::unique_ptr<ITranscodingEngine>>& engines, int argc,
               const char* const* argv)
    {
      if (argc != 3 || std::string(argv[1]) != "--engine")
      {
        return argc == 1 && !engines.empty() ? engines.front().get() : nullptr;
      }

      for (const auto& engine : engines)
      {
        if (std::string(argv[2]) == engine->GetName())
        {
          return engine.get();
        }
      }

      return nullptr;
    }

    EngineResult Run(const ITranscodingEngine& engine, const WorkerRequest& request)
    {
      TranscodingTarget target;
      target.transferSyntax = GetText(request.transferSyntax);
      target.lossyQuality = request.lossyQuality;

      const SourceView source(WORKER_MEMORY, request.sourceSize);
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
      hello.writableSyntaxes = ListSyntaxes(engine);
      SetText(hello.problem, engine.GetProblem());

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


  int RunWorker(const std::vector<std::unique_ptr<ITranscodingEngine>>& engines, int argc,
                const char* const* argv)
  {
    if (!IsSocket(WORKER_SOCKET))
    {
      std::cerr << "This program belongs to the performance plugin for Orthanc "
                   "(libOrthancPerf.so), which starts it when it is needed.\n";
      return NOT_STARTED_BY_PLUGIN;
    }

    BecomeWorker();
    const ITranscodingEngine* const engine = FindEngine(engines, argc, argv);
    return engine == nullptr ? NO_SUCH_ENGINE : ServeAll(*engine);
  }
}
