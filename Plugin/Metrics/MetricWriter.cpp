// SPDX-License-Identifier: GPL-3.0-or-later
#include "Metrics/MetricWriter.h"

#include <cmath>
#include <locale>

namespace OrthancPerf
{
  namespace
  {
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

  // Whole numbers are exact up to 2^53, which has 16 digits. Orthanc sets the locale of the process
  // ("Locale"), in which numbers may have a comma.
  MetricWriter::MetricWriter()
  {
    text_.imbue(std::locale::classic());
    text_.precision(16);
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

  void MetricWriter::WriteLine(const char* suffix, const Labels& labels, double value,
                               std::optional<double> bound)
  {
    text_ << head_ << name_ << suffix;
    head_.clear();
    char separator = '{';

    for (const auto& [label, text] : labels)
    {
      text_ << separator << label << "=\"" << Escape(text) << '"';
      separator = ',';
    }

    if (bound)
    {
      text_ << separator << "le=\"";
      (std::isinf(*bound) ? text_ << "+Inf" : text_ << *bound) << '"';
      separator = ',';
    }

    text_ << (separator == ',' ? "}" : "") << ' ' << value << '\n';
  }
}
