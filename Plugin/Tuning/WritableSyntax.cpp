// SPDX-License-Identifier: GPL-3.0-or-later
#include "Tuning/WritableSyntax.h"

namespace OrthancPerf
{
  const WritableSyntax* FindWritableSyntax(const std::string& uid)
  {
    const TransferSyntax* const syntax = FindTransferSyntax(uid);
    return syntax != nullptr && syntax->isWritable ? syntax : nullptr;
  }


  bool IsLossy(const std::string& uid)
  {
    const WritableSyntax* const syntax = FindWritableSyntax(uid);
    return syntax != nullptr && syntax->isLossy;
  }


  std::string GetSyntaxName(const std::string& uid)
  {
    const WritableSyntax* const syntax = FindWritableSyntax(uid);
    return syntax == nullptr ? uid : syntax->name;
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
