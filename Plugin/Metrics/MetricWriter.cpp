// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MetricWriter.h"

#include <array>
#include <locale>

namespace OrthancPerf
{
  namespace
  {
    // Whole numbers are exact up to 2^53, which has 16 digits. Orthanc sets the locale of the
    // process ("Locale"), in which numbers may have a comma.
    void UseFormat(std::ostringstream& text)
    {
      text.imbue(std::locale::classic());
      text.precision(16);
    }


    std::string Escape(const std::string& value)
    {
      std::string escaped;

      for (const char c : value)
      {
        if (c == '\\' || c == '"')
        {
          escaped += '\\';
        }

        escaped += c == '\n' ? "\\n" : std::string(1, c);
      }

      return escaped;
    }
  }


  const char* ToLabel(MetricType type)
  {
    constexpr std::array LABELS = {"counter", "gauge", "histogram"};
    return LABELS.at(static_cast<std::size_t>(type));
  }


  MetricWriter::MetricWriter()
  {
    UseFormat(text_);
  }


  void MetricWriter::Begin(const std::string& name, MetricType type, const std::string& help)
  {
    name_ = name;
    head_ = "# HELP " + name + " " + help + "\n# TYPE " + name + " " + ToLabel(type) + "\n";
  }


  void MetricWriter::Add(const Labels& labels, std::optional<double> value)
  {
    if (value)
    {
      WriteLine("", labels, *value);
    }
  }


  std::string MetricWriter::ToText(double number)
  {
    std::ostringstream text;
    UseFormat(text);
    text << number;
    return text.str();
  }


  void MetricWriter::WriteLine(const char* suffix, const Labels& labels, double value,
                               const std::string& bound)
  {
    text_ << head_ << name_ << suffix;
    head_.clear();
    char separator = '{';

    for (const auto& [label, text] : labels)
    {
      text_ << separator << label << "=\"" << Escape(text) << '"';
      separator = ',';
    }

    if (!bound.empty())
    {
      text_ << separator << "le=\"" << bound << '"';
      separator = ',';
    }

    text_ << (separator == ',' ? "}" : "") << ' ' << value << '\n';
  }
}
