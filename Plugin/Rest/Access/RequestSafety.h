// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "Rest/RestMessage.h"

namespace OrthancPerf
{
  // What keeps a web page of someone else's from acting through the browser of a user, who is
  // signed in to Orthanc. The browser adds the password by itself, to whatever request a page makes
  // it send; but it never lets a page write the headers that are looked at here. Any thread.

  // Throws SettingError if the request names another method than its own, in an argument
  // "_method" or a header "X-HTTP-Method-Override". Orthanc obeys them before the plugin is asked,
  // so that an image in any page could be a DELETE (ExtractMethod in its HttpServer.cpp).
  void RefuseOtherMethod(const RestRequest& request);

  // Throws RestError (403) if a browser sent the request for a page that is not of this server:
  // neither of its origin (Fetch Metadata, "Sec-Fetch-Site") nor from the host that was asked
  // ("Origin", RFC 6454 section 7, against "Host" or a proxy's "X-Forwarded-Host"). Programs, which
  // send neither header, pass.
  void RefuseForeignPage(const RestRequest& request);
}
