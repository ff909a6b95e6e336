#include "app/svg_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <ranges>
#include <set>
#include <string_view>

namespace meguri::app {
namespace {

constexpr double kWidth = 880;
constexpr double kHeight = 480;
constexpr double kLeft = 84;
constexpr double kRight = 636;
constexpr double kTop = 48;
constexpr double kBottom = 412;
constexpr double kLegendX = 652;
constexpr double kLegendLine = 20;
constexpr std::size_t kLegendLetters = 30;

// Told apart by people who see few colours: by Okabe and Ito.
constexpr std::array<const char*, 7> kColours = {"#0072b2", "#d55e00", "#009e73", "#cc79a7",
                                                 "#e69f00", "#56b4e9", "#000000"};

// Bytes of a character that others continue begin with 10.
std::string cut(const std::string& text, std::size_t letters) {
  std::size_t seen = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xc0U) == 0x80U) continue;
    if (++seen > letters) return text.substr(0, i) + "…";
  }
  return text;
}

bool can_show(const PlotAxis& axis, double value) {
  return std::isfinite(value) && (!axis.is_log || value > 0);
}

// An axis with its ticks, and where on the paper a value is.
class Scale {
 public:
  Scale(const PlotAxis& axis, double low, double high, double from, double to)
      : axis_(axis), from_(from), to_(to) {
    if (low > high) {
      low = axis.is_log ? 1 : 0;
      high = axis.is_log ? 10 : 1;
    }
    ticks_ = axis.ticks.empty() ? plot_ticks(low, high, axis.is_log) : axis.ticks;
    // From the last tick before all values to the first behind them.
    low_ = low;
    high_ = high;
    for (const double tick : ticks_) {
      if (tick <= low * (1 + 1e-9)) low_ = tick;
    }
    for (const double tick : std::views::reverse(ticks_)) {
      if (tick >= high * (1 - 1e-9)) high_ = tick;
    }
    if (low_ == high_) high_ = axis.is_log ? low_ * 10 : low_ + 1;
  }

  double at(double value) const {
    const auto place = [this](double v) { return axis_.is_log ? std::log10(v) : v; };
    const double share = (place(value) - place(low_)) / (place(high_) - place(low_));
    return from_ + share * (to_ - from_);
  }
  bool shows(double value) const {
    return can_show(axis_, value) && value >= low_ * (1 - 1e-9) && value <= high_ * (1 + 1e-9);
  }
  const std::vector<double>& ticks() const { return ticks_; }
  std::string name(std::size_t tick) const {
    if (tick < axis_.tick_names.size()) return axis_.tick_names[tick];
    const double value = ticks_[tick];
    return value < 1e6 ? plot_number(value) : plot_number(value / 1e6) + " M";
  }

 private:
  const PlotAxis& axis_;
  double from_;
  double to_;
  double low_;
  double high_;
  std::vector<double> ticks_;
};

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();

  void add(const PlotAxis& axis, double value) {
    if (!can_show(axis, value)) return;
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// A spread may reach below what a logarithmic axis can show.
void add_spread(const PlotSeries& series, std::size_t i, const PlotAxis& axis, Range* range) {
  if (i >= series.spreads.size()) return;
  const double value = series.points[i].second;
  range->add(axis, value + series.spreads[i]);
  range->add(axis, value - series.spreads[i]);
}

struct Scales {
  Scale x;
  Scale y;

  static Scales of(const Plot& plot) {
    Range x;
    Range y;
    for (const PlotSeries& series : plot.series) {
      for (std::size_t i = 0; i < series.points.size(); ++i) {
        x.add(plot.x, series.points[i].first);
        y.add(plot.y, series.points[i].second);
        add_spread(series, i, plot.y, &y);
      }
      for (const double end : series.ends) x.add(plot.x, end);
    }
    for (const PlotLine& line : plot.lines) {
      if (line.kind == PlotLine::Kind::kAtX) x.add(plot.x, line.at);
      if (line.kind == PlotLine::Kind::kAtY) y.add(plot.y, line.at);
    }
    if (!plot.y.is_log) y.add(plot.y, 0);
    return {Scale(plot.x, x.low, x.high, kLeft, kRight),
            Scale(plot.y, y.low, y.high, kBottom, kTop)};
  }
};

void put_line(double x1, double y1, double x2, double y2, std::string_view style,
              std::string* out) {
  *out += fmt::format("<line x1=\"{:.1f}\" y1=\"{:.1f}\" x2=\"{:.1f}\" y2=\"{:.1f}\" {}/>\n", x1,
                      y1, x2, y2, style);
}

void put_text(double x, double y, std::string_view text, std::string_view style, std::string* out) {
  *out +=
      fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" {}>{}</text>\n", x, y, style, markup_text(text));
}

void put_axes(const Plot& plot, const Scales& scales, std::string* out) {
  constexpr std::string_view kGrid = "stroke=\"currentColor\" stroke-opacity=\"0.15\"";
  for (std::size_t i = 0; i < scales.x.ticks().size(); ++i) {
    if (!scales.x.shows(scales.x.ticks()[i])) continue;
    const double x = scales.x.at(scales.x.ticks()[i]);
    put_line(x, kTop, x, kBottom, kGrid, out);
    put_text(x, kBottom + 18, scales.x.name(i), "text-anchor=\"middle\"", out);
  }
  for (std::size_t i = 0; i < scales.y.ticks().size(); ++i) {
    if (!scales.y.shows(scales.y.ticks()[i])) continue;
    const double y = scales.y.at(scales.y.ticks()[i]);
    put_line(kLeft, y, kRight, y, kGrid, out);
    put_text(kLeft - 8, y + 4, scales.y.name(i), "text-anchor=\"end\"", out);
  }
  *out += fmt::format(
      "<rect x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" fill=\"none\" stroke=\"currentColor\" "
      "stroke-opacity=\"0.6\"/>\n",
      kLeft, kTop, kRight - kLeft, kBottom - kTop);
  put_text((kLeft + kRight) / 2, kHeight - 22, plot.x.label, "text-anchor=\"middle\"", out);
  const double middle = (kTop + kBottom) / 2;
  put_text(20, middle, plot.y.label,
           fmt::format("text-anchor=\"middle\" transform=\"rotate(-90 20 {:.1f})\"", middle), out);
}

std::string class_of(std::size_t i) { return fmt::format("class=\"s{}\"", i); }

// Colours, then marks: hollow when the colours begin again.
void put_mark(double x, double y, std::size_t i, std::string* out) {
  const char* colour = kColours[i % kColours.size()];
  const char* fill = i < kColours.size() ? colour : "white";
  *out +=
      fmt::format("<circle cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\" fill=\"{}\" stroke=\"{}\" {}/>\n", x,
                  y, fill, colour, class_of(i));
}

std::string stroke_of(std::size_t i, double width) {
  return fmt::format("stroke=\"{}\" stroke-width=\"{}\" {}", kColours[i % kColours.size()], width,
                     class_of(i));
}

void put_bar(double left, double right, double top, std::size_t i, std::string* out) {
  *out += fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" fill=\"{}\" {}/>\n", left,
      top, std::max(right - left - 1, 1.0), kBottom - top, kColours[i % kColours.size()],
      class_of(i));
}

void put_bars(const PlotSeries& series, std::size_t i, const Scales& scales, std::string* out) {
  for (std::size_t k = 0; k < std::min(series.points.size(), series.ends.size()); ++k) {
    const auto& [from, value] = series.points[k];
    const double end = series.ends[k];
    if (!scales.x.shows(from) || !scales.x.shows(end) || !scales.y.shows(value)) continue;
    const double top = scales.y.at(value);
    if (top < kBottom) put_bar(scales.x.at(from), scales.x.at(end), top, i, out);
  }
}

// Cut where the plot ends.
void put_spread(double x, double value, double spread, std::size_t i, const Scales& scales,
                std::string* out) {
  const auto end_of = [&](double end) {
    return scales.y.shows(end) ? std::clamp(scales.y.at(end), kTop, kBottom) : kBottom;
  };
  put_line(x, end_of(value - spread), x, end_of(value + spread), stroke_of(i, 1), out);
}

void put_curve(const PlotSeries& series, std::size_t i, const Scales& scales, std::string* out) {
  std::string path;
  std::string marks;
  for (std::size_t k = 0; k < series.points.size(); ++k) {
    const auto& [at, value] = series.points[k];
    if (!scales.x.shows(at) || !scales.y.shows(value)) continue;
    const double x = scales.x.at(at);
    const double y = scales.y.at(value);
    path += fmt::format("{}{:.1f},{:.1f}", path.empty() ? "" : " ", x, y);
    if (k < series.spreads.size()) put_spread(x, value, series.spreads[k], i, scales, &marks);
    put_mark(x, y, i, &marks);
  }
  *out += fmt::format("<polyline points=\"{}\" {} fill=\"none\"/>\n", path, stroke_of(i, 2));
  *out += marks;
}

void put_series(const PlotSeries& series, std::size_t i, const Scales& scales, std::string* out) {
  if (series.ends.empty()) {
    put_curve(series, i, scales, out);
  } else {
    put_bars(series, i, scales, out);
  }
}

constexpr std::array<const char*, 3> kDashes = {"8 4", "3 3", "12 3 3 3"};

std::string dashed(std::size_t i) {
  return fmt::format("stroke=\"currentColor\" stroke-width=\"1.5\" stroke-dasharray=\"{}\"",
                     kDashes[i % kDashes.size()]);
}

void put_legend(const Plot& plot, std::string* out) {
  double y = kTop + 8;
  const auto put_name = [&](const std::string& name) {
    put_text(kLegendX + 36, y + 4, cut(name, kLegendLetters), "", out);
    y += kLegendLine;
  };
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    if (plot.series[i].ends.empty()) {
      put_line(kLegendX, y, kLegendX + 28, y, stroke_of(i, 2), out);
      put_mark(kLegendX + 14, y, i, out);
    } else {
      put_line(kLegendX, y, kLegendX + 28, y, stroke_of(i, 8), out);
    }
    put_name(plot.series[i].name);
  }
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    put_line(kLegendX, y, kLegendX + 28, y, dashed(i), out);
    put_name(plot.lines[i].name);
  }
}

std::string name_at(const PlotAxis& axis, double value) {
  const auto found = std::ranges::find(axis.ticks, value);
  const auto i = static_cast<std::size_t>(found - axis.ticks.begin());
  return i < axis.tick_names.size() ? axis.tick_names[i] : plot_number(value);
}

}  // namespace

std::string markup_text(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      default: out.push_back(c);
    }
  }
  return out;
}

std::string to_svg(const Plot& plot, PlotGround ground) {
  const Scales scales = Scales::of(plot);
  const bool is_paper = ground == PlotGround::kPaper;
  const double above = is_paper ? 0 : kTop - 12;  // where there would be a title
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{2}\" "
      "viewBox=\"0 {1} {0} {2}\" font-family=\"sans-serif\" font-size=\"{5}\" {3} role=\"img\" "
      "aria-label=\"{4}\">\n",
      kWidth, above, kHeight - above,
      is_paper ? "color=\"#222222\" fill=\"#222222\"" : "fill=\"currentColor\"",
      markup_text(plot.title), is_paper ? 12 : 14);
  if (is_paper) {
    out += fmt::format("<rect width=\"{}\" height=\"{}\" fill=\"white\"/>\n", kWidth, kHeight);
    put_text(kLeft, 28, plot.title, "font-size=\"16\" font-weight=\"bold\"", &out);
  }
  put_axes(plot, scales, &out);
  for (std::size_t i = 0; i < plot.lines.size(); ++i) {
    const PlotLine& line = plot.lines[i];
    if (line.kind == PlotLine::Kind::kAtX && scales.x.shows(line.at)) {
      put_line(scales.x.at(line.at), kTop, scales.x.at(line.at), kBottom, dashed(i), &out);
    }
    if (line.kind == PlotLine::Kind::kAtY && scales.y.shows(line.at)) {
      put_line(kLeft, scales.y.at(line.at), kRight, scales.y.at(line.at), dashed(i), &out);
    }
  }
  for (std::size_t i = 0; i < plot.series.size(); ++i) {
    put_series(plot.series[i], i, scales, &out);
  }
  put_legend(plot, &out);
  return out + "</svg>\n";
}

std::string to_markdown(const Plot& plot) {
  std::set<double> rows;
  for (const PlotSeries& series : plot.series) {
    for (const auto& [x, y] : series.points) rows.insert(x);
  }
  std::string out = "| " + plot.x.label + " |";
  std::string rule = "| ---: |";
  for (const PlotSeries& series : plot.series) {
    out += " " + series.name + " |";
    rule += " ---: |";
  }
  out += "\n" + rule + "\n";
  for (const double x : rows) {
    out += "| " + name_at(plot.x, x) + " |";
    for (const PlotSeries& series : plot.series) {
      const auto found =
          std::ranges::find(series.points, x, [](const auto& point) { return point.first; });
      out += " " + (found == series.points.end() ? "–" : plot_number(found->second)) + " |";
    }
    out += "\n";
  }
  std::string lines;
  for (const PlotLine& line : plot.lines) {
    lines += fmt::format("{}{}: {}", lines.empty() ? "\nLines: " : "; ", line.name,
                         plot_number(line.at));
  }
  return out + (lines.empty() ? "" : lines + ".\n");
}

std::vector<double> plot_ticks(double low, double high, bool is_log) {
  std::vector<double> ticks;
  if (is_log) {
    const double first = std::floor(std::log10(low) + 1e-9);
    const double last = std::ceil(std::log10(high) - 1e-9);
    const bool is_short = last - first <= 3;
    for (double e = first; e <= last; ++e) {
      const double power = std::pow(10, e);
      ticks.push_back(power);
      if (!is_short || e == last) continue;
      ticks.push_back(2 * power);
      ticks.push_back(5 * power);
    }
    return ticks;
  }
  constexpr double kTicksMax = 8;
  if (high <= low) high = low + 1;
  const double power = std::pow(10, std::floor(std::log10((high - low) / kTicksMax)));
  double step = power;
  for (const double times : {1.0, 2.0, 5.0, 10.0}) {
    step = times * power;
    if ((high - low) / step <= kTicksMax) break;
  }
  for (double n = std::floor(low / step + 1e-9); n <= std::ceil(high / step - 1e-9); ++n) {
    ticks.push_back(n * step);
  }
  return ticks;
}

std::string plot_number(double value) {
  const double size = std::abs(value);
  if (size == 0) return "0";
  if (size < 1e-3 || size >= 1e9) return fmt::format("{:.3g}", value);
  const int before = static_cast<int>(std::floor(std::log10(size))) + 1;
  std::string text = fmt::format("{:.{}f}", value, std::max(0, 3 - before));
  if (text.find('.') == std::string::npos) return text;
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

}  // namespace meguri::app
