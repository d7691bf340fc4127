// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/Rules/Rules.h"

namespace OrthancPerf
{
  std::vector<Rule> MakeAllRules()
  {
    std::vector<Rule> rules;

    for (const std::vector<Rule>& table : {MakeServerRules(),
                                           MakeMemoryRules(),
                                           MakeNetworkRules(),
                                           {MakeWindowRule()},
                                           MakeStoringRules(),
                                           MakeTranscodingRules(),
                                           MakeReadRules()})
    {
      rules.insert(rules.end(), table.begin(), table.end());
    }

    return rules;
  }
}
