// SPDX-License-Identifier: GPL-3.0-or-later
#include "Advisor/FindingTexts.h"

#include <json/reader.h>

#include <cmath>
#include <memory>
#include <string_view>

namespace OrthancPerf
{
  extern const std::string_view FINDINGS_JSON;  // Resources/CMake/Findings.cpp.in

  namespace
  {
    Json::Value ReadTexts()
    {
      Json::Value texts;
      const std::unique_ptr<Json::CharReader> reader(Json::CharReaderBuilder().newCharReader());
      reader->parse(FINDINGS_JSON.data(), FINDINGS_JSON.data() + FINDINGS_JSON.size(), &texts,
                    nullptr);
      return texts;
    }


    // A missing figure is left as it is, for a test to see
    std::string Say(const std::string& placeholder, const Judgement& judgement)
    {
      const std::size_t end = placeholder.find(' ');
      const std::string name = placeholder.substr(0, end);
      const std::string unit = end == std::string::npos ? "" : placeholder.substr(end + 1);
      const Json::Value& value =
          judgement.words.isMember(name) ? judgement.words[name] : judgement.figures[name];

      if (value.isNull())
      {
        return "{" + placeholder + "}";
      }

      return unit == "time"     ? SayTime(value.asDouble())
             : unit == "size"   ? SaySize(value.asDouble())
             : unit == "share"  ? SayShare(value.asDouble())
             : unit == "number" ? SayNumber(value.asDouble())
             : unit == "count"  ? std::to_string(std::lround(value.asDouble()))
                                : value.asString();
    }


    std::string Fill(const std::string& text, const Judgement& judgement)
    {
      std::string filled;
      std::size_t place = 0;

      for (std::size_t begin = text.find('{'); begin != std::string::npos;
           begin = text.find('{', place))
      {
        const std::size_t end = text.find('}', begin);
        filled += text.substr(place, begin - place);
        filled += Say(text.substr(begin + 1, end - begin - 1), judgement);
        place = end + 1;
      }

      return filled + text.substr(place);
    }


    std::string Render(const Json::Value& text, const Judgement& judgement)
    {
      if (!text.isArray())
      {
        return Fill(text.asString(), judgement);
      }

      std::string sentences;

      for (const Json::Value& sentence : text)
      {
        sentences += (sentences.empty() ? "" : " ") + Fill(sentence.asString(), judgement);
      }

      return sentences;
    }


    Remedy MakeRemedy(const Json::Value& texts, const Judgement& judgement)
    {
      Remedy remedy;
      remedy.text = Render(texts["Text"], judgement);
      remedy.document = judgement.document.isNull() ? texts["Document"] : judgement.document;

      for (const Remedy::Kind kind : {Remedy::Kind::Tuning, Remedy::Kind::Configuration,
                                      Remedy::Kind::System, Remedy::Kind::Peer})
      {
        remedy.kind = texts["Kind"] == ToLabel(kind) ? kind : remedy.kind;
      }

      return remedy;
    }
  }


  const Json::Value& GetFindingTexts()
  {
    static const Json::Value texts = ReadTexts();
    return texts;
  }


  Finding Describe(const std::string& id, const Judgement& judgement)
  {
    const Json::Value& texts = GetFindingTexts()[id];
    const Json::Value& variant = texts["Variants"][judgement.variant];
    const auto find = [&](const char* part) -> const Json::Value&
    {
      return variant.isMember(part) ? variant[part] : texts[part];
    };

    Finding finding;
    finding.id = id;
    finding.title = Render(find("Title"), judgement);
    finding.explanation = Render(find("Explanation"), judgement);
    finding.evidence = judgement.figures;
    finding.cost = judgement.cost;
    finding.remedy = MakeRemedy(find("Remedy"), judgement);
    return finding;
  }
}
