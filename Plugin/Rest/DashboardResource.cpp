// SPDX-License-Identifier: GPL-3.0-or-later
#include "Rest/Resources.h"

namespace OrthancPerf
{
  namespace
  {
    constexpr const char* ROUTE = "/perf";
    constexpr const char* INDEX = "index.html";

    // What the page may load: its own files, and nothing that is written inside it. Images of
    // "data:" are the page's icon.
    constexpr const char* POLICY =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

    // The files are loaded as "app.js?v=tag": that address never changes its content
    bool IsForever(const RestRequest& request, const DashboardFile& file)
    {
      const auto version = request.arguments.find("v");
      return version != request.arguments.end() && version->second == file.tag;
    }

    RestAnswer AnswerFile(const RestRequest& request, const DashboardFile& file)
    {
      const std::string tag = "\"" + std::string(file.tag) + "\"";

      RestAnswer answer;
      answer.headers["Content-Security-Policy"] = POLICY;
      answer.headers["Referrer-Policy"] = "no-referrer";
      answer.contentType = file.contentType;
      answer.headers["ETag"] = tag;
      answer.headers["Vary"] = "Accept";
      answer.headers["Cache-Control"] =
          IsForever(request, file) ? "private, max-age=31536000, immutable" : "no-cache";

      if (request.GetHeader("if-none-match").value_or("").find(tag) != std::string::npos)
      {
        answer.status = 304;
      }
      else
      {
        answer.body = file.content;
      }

      return answer;
    }

    RestAnswer AnswerRoutes(const RestRouter& router)
    {
      RestAnswer answer = AnswerJson(router.Describe());
      answer.headers["Vary"] = "Accept";
      return answer;
    }
  }

  void RegisterDashboardResource(RestRouter& router, const std::vector<DashboardFile>& files)
  {
    std::optional<DashboardFile> index;

    for (const DashboardFile& file : files)
    {
      if (file.name == INDEX)
      {
        index = file;
      }
      else
      {
        router.Register(std::string(ROUTE) + "/app/" + std::string(file.name), HttpMethod::Get,
                        "A file of the dashboard",
                        [file](const RestRequest& request) { return AnswerFile(request, file); });
      }
    }

    const char* const summary =
        index ? "The dashboard for a browser, or else the routes of the plugin"
              : "The routes of the plugin; this build has no dashboard, as npm was missing";

    router.Register(ROUTE, HttpMethod::Get, summary,
                    [&router, index](const RestRequest& request)
                    {
                      const std::string accepted = request.GetHeader("accept").value_or("");
                      return index && accepted.find("text/html") != std::string::npos
                                 ? AnswerFile(request, *index)
                                 : AnswerRoutes(router);
                    });
  }
}
