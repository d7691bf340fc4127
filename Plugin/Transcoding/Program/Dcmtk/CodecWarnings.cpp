// SPDX-License-Identifier: GPL-3.0-or-later
#include "Transcoding/Program/Dcmtk/CodecWarnings.h"

#include <dcmtk/config/osconfig.h>
#include <dcmtk/oflog/appender.h>
#include <dcmtk/oflog/oflog.h>
#include <dcmtk/oflog/spi/logevent.h>

namespace OrthancPerf
{
  namespace
  {
    std::string& GetKept()
    {
      static std::string kept;
      return kept;
    }

    // The messages are those of the Independent JPEG Group's library (jerror.h). Extra bytes in
    // front of a marker are what is left of a scan whose codes were misread.
    bool SpeaksOfDamage(const std::string& message)
    {
      return message.find("Premature end of JPEG file") != std::string::npos ||
             message.find("Corrupt JPEG data") != std::string::npos;
    }

    class KeepingAppender : public dcmtk::log4cplus::Appender
    {
    public:
      ~KeepingAppender() override
      {
        destructorImpl();
      }

      void close() override
      {
        closed = true;
      }

    protected:
      void append(const dcmtk::log4cplus::spi::InternalLoggingEvent& event) override
      {
        const auto& text = event.getMessage();
        const std::string message(text.data(), text.size());

        if (GetKept().empty() && SpeaksOfDamage(message))
        {
          GetKept() = message;
        }
      }
    };
  }


  void CodecWarnings::Install()
  {
    OFLog::configure(OFLogger::WARN_LOG_LEVEL);
    dcmtk::log4cplus::Logger root = dcmtk::log4cplus::Logger::getRoot();
    root.removeAllAppenders();
    root.addAppender(dcmtk::log4cplus::SharedAppenderPtr(new KeepingAppender));
  }


  void CodecWarnings::Forget()
  {
    GetKept().clear();
  }


  const std::string& CodecWarnings::GetDamage()
  {
    return GetKept();
  }
}
