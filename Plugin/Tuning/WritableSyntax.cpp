// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/WritableSyntax.h"

namespace OrthancPerf
{
  const std::vector<WritableSyntax>& GetWritableSyntaxes()
  {
    static const std::vector<WritableSyntax> ALL = {
        {"1.2.840.10008.1.2", "LittleEndianImplicit"},
        {"1.2.840.10008.1.2.1", "LittleEndianExplicit"},
        {"1.2.840.10008.1.2.1.99", "DeflatedLittleEndianExplicit"},
        {"1.2.840.10008.1.2.4.50", "JPEGProcess1"},
        {"1.2.840.10008.1.2.4.51", "JPEGProcess2_4"},
        {"1.2.840.10008.1.2.4.57", "JPEGProcess14"},
        {"1.2.840.10008.1.2.4.70", "JPEGProcess14SV1"},
        {"1.2.840.10008.1.2.4.80", "JPEGLSLossless"},
        {"1.2.840.10008.1.2.4.81", "JPEGLSLossy"},
        {"1.2.840.10008.1.2.4.90", "JPEG2000LosslessOnly"},
        {"1.2.840.10008.1.2.4.91", "JPEG2000"},
        {"1.2.840.10008.1.2.5", "RLELossless"},
    };
    return ALL;
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
