// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/WritableSyntax.h"

namespace OrthancPerf
{
  const std::vector<WritableSyntax>& GetWritableSyntaxes()
  {
    static const std::vector<WritableSyntax> ALL = {
        {"1.2.840.10008.1.2", "LittleEndianImplicit", false},
        {"1.2.840.10008.1.2.1", "LittleEndianExplicit", false},
        {"1.2.840.10008.1.2.1.99", "DeflatedLittleEndianExplicit", false},
        {"1.2.840.10008.1.2.4.50", "JPEGProcess1", true},
        {"1.2.840.10008.1.2.4.51", "JPEGProcess2_4", true},
        {"1.2.840.10008.1.2.4.57", "JPEGProcess14", false},
        {"1.2.840.10008.1.2.4.70", "JPEGProcess14SV1", false},
        {"1.2.840.10008.1.2.4.80", "JPEGLSLossless", false},
        {"1.2.840.10008.1.2.4.81", "JPEGLSLossy", true},
        {"1.2.840.10008.1.2.4.90", "JPEG2000LosslessOnly", false},
        {"1.2.840.10008.1.2.4.91", "JPEG2000", true},
        {"1.2.840.10008.1.2.5", "RLELossless", false},
    };
    return ALL;
  }


  const WritableSyntax* FindWritableSyntax(const std::string& uid)
  {
    for (const WritableSyntax& syntax : GetWritableSyntaxes())
    {
      if (uid == syntax.uid)
      {
        return &syntax;
      }
    }

    return nullptr;
  }


  std::optional<std::string> LookupWritableSyntax(const std::string& uidOrName)
  {
    for (const WritableSyntax& syntax : GetWritableSyntaxes())
    {
      if (uidOrName == syntax.uid || uidOrName == syntax.name)
      {
        return syntax.uid;
      }
    }

    return std::nullopt;
  }
}
