// SPDX-License-Identifier: GPL-3.0-or-later
#include "Network/AdmissionGate.h"
#include "PluginContext.h"
#include "Sdk/RestCallback.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>
#include <strings.h>
#include <utility>

namespace
{
  using namespace OrthancPerf;

  // C callbacks have no argument of their own: this is what they work on. Owned from before they
  // are registered until Orthanc has stopped all its servers. Not by an object with a destructor: a
  // child that something in Orthanc has forked, and that calls exit(3), would wait there for
  // threads that it does not have.
  PluginContext* plugin = nullptr;

  // Runs the body of a callback, if the plugin is there
  template <typename Body>
  void Guard(const char* callback, const Body& body) noexcept
  {
    if (plugin != nullptr)
    {
      plugin->Guard(callback, [&] { body(*plugin); });
    }
  }

  // The headers of an HTTP request, as Orthanc hands them over: their names are in lower case
  struct RequestHeaders
  {
    std::uint32_t count;
    const char* const* names;
    const char* const* values;

    // Null: the request does not have it
    const char* Find(std::string_view name) const noexcept
    {
      const auto end = names + count;
      const auto found = std::find(names, end, name);
      return found == end ? nullptr : values[found - names];
    }
  };

  // DICOM PS3.18 section 10.5: to ".../studies" or ".../studies/{UID}", whatever the root
  bool IsStow(const char* uri, const RequestHeaders& headers) noexcept
  {
    constexpr std::string_view MULTIPART = "multipart/related";
    const char* const type = headers.Find("content-type");
    return type != nullptr && std::strstr(uri, "/studies") != nullptr &&
           strncasecmp(type, MULTIPART.data(), MULTIPART.size()) == 0;
  }

  // Nothing: it does more than to read
  std::optional<ReadingRequest> FindReading(OrthancPluginHttpMethod method, const char* uri,
                                            const RequestHeaders& headers) noexcept
  {
    const bool isPost = method == OrthancPluginHttpMethod_Post;
    const std::optional<RouteClass> route = isPost || method == OrthancPluginHttpMethod_Get
                                                ? ReadRouteClass(uri, isPost)
                                                : std::nullopt;

    if (!route)
    {
      return std::nullopt;
    }

    ReadingRequest request;
    request.route = *route;

    if (const char* const agent = headers.Find("user-agent"))
    {
      const std::string_view text = agent;
      request.product.Assign(text.substr(0, text.find_first_of("/ ")));
    }

    return request;
  }

  static_assert(OrthancPluginInstanceOrigin_WebDav - OrthancPluginInstanceOrigin_Unknown ==
                static_cast<int>(Origin::WebDav));

  Origin ToOrigin(OrthancPluginInstanceOrigin origin)
  {
    const int place = origin - OrthancPluginInstanceOrigin_Unknown;
    return place > 0 && place < static_cast<int>(ORIGIN_COUNT) ? static_cast<Origin>(place)
                                                               : Origin::Unknown;
  }

  // What Orthanc knows of an instance in its filter and in its stored callback: the latter has an
  // identifier, and of C-STORE the peer's address
  KnownInstance DescribeInstance(OrthancPluginContext* context,
                                 const OrthancPluginDicomInstance* instance,
                                 const char* storedId = nullptr)
  {
    KnownInstance known;
    known.origin = ToOrigin(OrthancPluginGetInstanceOrigin(context, instance));
    known.instanceId = storedId == nullptr ? "" : storedId;

    const std::int64_t size = OrthancPluginGetInstanceSize(context, instance);
    known.size = size > 0 ? static_cast<std::size_t>(size) : 0;

    if (known.origin == Origin::DicomProtocol)
    {
      const char* const title = OrthancPluginGetInstanceRemoteAet(context, instance);
      known.peer.name = MakePrintable(title == nullptr ? "" : title);
    }

    if (storedId != nullptr && !known.peer.name.empty() &&
        OrthancPluginHasInstanceMetadata(context, instance, "RemoteIP") == 1)
    {
      const char* const address = OrthancPluginGetInstanceMetadata(context, instance, "RemoteIP");
      known.peer.address = MakePrintable(address == nullptr ? "" : address);
    }

    return known;
  }

  std::int32_t OnHttpRequest(OrthancPluginHttpMethod method, const char* uri, const char* ip,
                             std::uint32_t headersCount, const char* const* headersKeys,
                             const char* const* headersValues, std::uint32_t, const char* const*,
                             const char* const*)
  {
    NotePendingRequest(uri, ip);
    Guard("HttpRequestFilter",
          [&](PluginContext& context)
          {
            const RequestHeaders headers = {headersCount, headersKeys, headersValues};
            OnServed(context.connections.GetCurrentConnection(), IsStow(uri, headers),
                     FindReading(method, uri, headers));
            context.tracker.OnRequest(Clock::now(), ip);
          });

    return 1;
  }

  // A filter of its own, and behind those of other plugins: it may wait, which who is refused need
  // not, and only who was let in may take memory. Orthanc holds a lock of its filters meanwhile,
  // shared (1.10.1: incomingHttpRequestFilterMutex_), so nobody is to register another one from now
  // on. Whatever the method: it may be one that X-HTTP-Method-Override names, or GET for one of
  // WebDAV, and Orthanc's WebDAV reads bodies by the one that was sent. What has no body neither
  // counts nor waits.
  std::int32_t OnUpload(OrthancPluginHttpMethod, const char*, const char*,
                        std::uint32_t headersCount, const char* const* headersKeys,
                        const char* const* headersValues, std::uint32_t, const char* const*,
                        const char* const*)
  {
    // Nothing: the body comes in chunks, or has no length that Orthanc would take
    const RequestHeaders headers = {headersCount, headersKeys, headersValues};
    const char* const text = headers.Find("content-length");
    const auto length = text == nullptr ? std::nullopt : ParseContentLength(text);
    bool isLetOn = true;
    Guard("UploadFilter", [&](PluginContext& context)
          { isLetOn = MayUpload(context.connections.GetCurrentConnection(), length); });
    return isLetOn ? 1 : 0;
  }

  OrthancPluginReceivedInstanceAction OnReceivedInstance(OrthancPluginMemoryBuffer64* replacement,
                                                         const void* data, std::uint64_t size,
                                                         OrthancPluginInstanceOrigin origin)
  {
    OrthancPluginReceivedInstanceAction action = OrthancPluginReceivedInstanceAction_KeepAsIs;
    Guard("ReceivedInstance",
          [&](PluginContext& context)
          {
            const TimePoint now = Clock::now();
            const ReceivedFile file(data, size);
            context.tracker.OnReceived(now, {ToOrigin(origin), size, file.problem, file.identity});

            if (context.transcoding.TranscodeReceived(ToOrigin(origin), file, *replacement))
            {
              action = OrthancPluginReceivedInstanceAction_Modify;
            }
          });
    return action;
  }

  // Orthanc asks the next transcoder, or does it itself, if this is no success
  OrthancPluginErrorCode OnTranscode(OrthancPluginMemoryBuffer* transcoded, const void* data,
                                     std::uint64_t size, const char* const* syntaxes,
                                     std::uint32_t count, std::uint8_t)
  {
    OrthancPluginErrorCode code = OrthancPluginErrorCode_NotImplemented;
    Guard("Transcoder",
          [&](PluginContext& context)
          {
            if (context.transcoding.TranscodeFor(data, size, {syntaxes, syntaxes + count},
                                                 *transcoded))
            {
              code = OrthancPluginErrorCode_Success;
            }
          });
    return code;
  }

  std::int32_t OnIncomingInstance(const OrthancPluginDicomInstance* instance)
  {
    Guard("IncomingInstanceFilter",
          [instance](PluginContext& context)
          {
            const TimePoint now = Clock::now();
            context.tracker.OnFilter(now, DescribeInstance(context.orthanc.GetContext(), instance));
          });
    return 1;  // keep
  }

  OrthancPluginErrorCode OnStoredInstance(const OrthancPluginDicomInstance* instance,
                                          const char* instanceId)
  {
    Guard("StoredInstance",
          [=](PluginContext& context)
          {
            const TimePoint now = Clock::now();
            OnInstanceStored(context.connections.GetCurrentConnection());
            context.tracker.OnStored(
                now, DescribeInstance(context.orthanc.GetContext(), instance, instanceId));
          });
    return OrthancPluginErrorCode_Success;
  }

  OrthancPluginErrorCode OnRest(OrthancPluginRestOutput* output, const char* url,
                                const OrthancPluginHttpRequest* request)
  {
    OrthancPluginErrorCode code = OrthancPluginErrorCode_InternalError;
    Guard("Rest",
          [&](PluginContext& context)
          {
            context.Settle();
            ServeRestCallback(context.orthanc.GetContext(), context.router, output, url, *request);
            code = OrthancPluginErrorCode_Success;
          });
    return code;
  }

  void OnRefreshMetrics()
  {
    Guard("RefreshMetrics", [](PluginContext& context) { context.RefreshOrthancMetrics(); });
  }

  // The hooks that have to come after those of all other plugins, which are loaded by now.
  // Orthanc has room for one received-instance callback only: another plugin that wants it gets
  // it. What passes our filter, the last one, was accepted by all.
  // The answer is why received instances cannot be replaced; empty: they can.
  std::string RegisterLateHooks(PluginContext& context)
  {
    OrthancPluginContext* const orthanc = context.orthanc.GetContext();

    const bool isReceivedFree = OrthancPluginRegisterReceivedInstanceCallback(
                                    orthanc, OnReceivedInstance) == OrthancPluginErrorCode_Success;
    const std::string reason =
        "another plugin holds Orthanc's only received-instance callback: instances are stored as "
        "received. The phases \"receive\", \"parse\" and \"prepare\" are absent. Uploads that fail "
        "before the filters are not counted";
    context.state.SetHook("ReceivedInstance", isReceivedFree, isReceivedFree ? "" : reason);

    if (!isReceivedFree)
    {
      context.Warn(reason);
    }

    OrthancPluginRegisterIncomingDicomInstanceFilter(orthanc, OnIncomingInstance);
    context.state.SetHook("IncomingInstanceFilter", true);
    return isReceivedFree ? "" : "another plugin holds Orthanc's only received-instance callback";
  }

  OrthancPluginErrorCode OnChange(OrthancPluginChangeType change, OrthancPluginResourceType,
                                  const char*)
  {
    if (change == OrthancPluginChangeType_OrthancStarted)
    {
      Guard("OrthancStarted",
            [](PluginContext& context) { context.Start(RegisterLateHooks(context)); });
    }
    else if (change == OrthancPluginChangeType_OrthancStopped)
    {
      Guard("OrthancStopped", [](PluginContext& context) { context.Stop(); });
    }

    return OrthancPluginErrorCode_Success;
  }

  void RegisterHooks(PluginContext& context)
  {
    OrthancPluginContext* const orthanc = context.orthanc.GetContext();

    OrthancPluginRegisterIncomingHttpRequestFilter2(orthanc, OnHttpRequest);
    context.state.SetHook("HttpRequestFilter", true);

    OrthancPluginRegisterOnStoredInstanceCallback(orthanc, OnStoredInstance);
    context.state.SetHook("StoredInstance", true);

    OrthancPluginRegisterOnChangeCallback(orthanc, OnChange);
    OrthancPluginRegisterRestCallbackNoLock(orthanc, "/perf(|/.*)", OnRest);
    OrthancPluginRegisterRefreshMetricsCallback(orthanc, OnRefreshMetrics);
  }

  // Zero: loaded. Anything else stops Orthanc's start.
  std::int32_t Initialize(OrthancPluginContext* context)
  {
    const Orthanc orthanc(context);
    const Json::Value orthancConfiguration = orthanc.GetConfiguration();
    const PerfConfiguration configuration = PerfConfiguration::Find(orthancConfiguration);

    if (!configuration.enabled)
    {
      orthanc.LogWarning("switched off by \"Enable\" in section \"Perf\" of the configuration");
      return 0;
    }

    plugin = std::make_unique<PluginContext>(context, orthancConfiguration, configuration,
                                             OnTranscode, OnUpload)
                 .release();
    RegisterHooks(*plugin);

    if (!GetDashboardFiles().empty())
    {
      orthanc.AddToExplorers();
    }

    const std::string scheme =
        orthancConfiguration["SslEnabled"] == Json::Value(true) ? "https" : "http";
    const std::uint16_t port = plugin->server.httpPort;
    const std::string page = "; see " + scheme + "://localhost:" + std::to_string(port) + "/perf";
    orthanc.LogWarning("version " PERF_VERSION " follows every instance" + (port == 0 ? "" : page));
    return 0;
  }
}

extern "C"
{
  __attribute__((visibility("default"))) std::int32_t
  OrthancPluginInitialize(OrthancPluginContext* context)
  {
    if (OrthancPluginCheckVersion(context) == 0)
    {
      Orthanc(context).LogError("Orthanc " + std::string(context->orthancVersion) +
                                " is too old for this plugin");
      return -1;
    }

    Orthanc(context).SetDescription(
        "Follows every instance through its ingest, tunes DICOM transfers, serves /perf");

    try
    {
      return Initialize(context);
    }
    catch (const std::exception& error)
    {
      Orthanc(context).LogError(error.what());
      return -1;
    }
  }

  __attribute__((visibility("default"))) void OrthancPluginFinalize()
  {
    const std::unique_ptr<PluginContext> last(std::exchange(plugin, nullptr));
  }

  __attribute__((visibility("default"))) const char* OrthancPluginGetName()
  {
    return PLUGIN_NAME;
  }

  __attribute__((visibility("default"))) const char* OrthancPluginGetVersion()
  {
    return PERF_VERSION;
  }
}
