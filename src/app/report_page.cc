#include "app/report_page.h"

#include <fmt/format.h>

#include "app/build_info.h"
#include "app/output.h"
#include "app/report_figures.h"
#include "app/svg_plot.h"

namespace meguri::app {

namespace {

constexpr std::string_view kStyle = R"(
:root { --ground: #ffffff; --text: #1d2129; --faint: #5b6472; --line: #d9dde3; --card: #f5f7f9;
  --s0: #0072b2; --s1: #c25400; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171c; --text: #e4e7eb; --faint: #9aa4b2;
  --line: #333a44; --card: #1d2229; --s0: #56b4e9; --s1: #f0a04b; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 84rem; padding: 2rem 1.5rem 4rem; background: var(--ground);
  color: var(--text); font: 1rem/1.5 system-ui, sans-serif; }
h1 { margin: 0; font-size: 1.7rem; overflow-wrap: anywhere; }
h2 { margin: 3rem 0 0.4rem; font-size: 1.25rem; }
p { max-width: 52rem; margin: 0.4rem 0 1rem; }
.faint { color: var(--faint); }
.note { border-left: 0.25rem solid var(--s1); padding-left: 0.8rem; }
.numbers { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr));
  gap: 0.8rem; margin: 1.5rem 0; padding: 0; }
.numbers div { background: var(--card); border: 1px solid var(--line); border-radius: 0.4rem;
  padding: 0.7rem 0.9rem; }
.numbers dt { color: var(--faint); }
.numbers dd { margin: 0; }
.numbers .value { font-size: 1.5rem; font-variant-numeric: tabular-nums; }
.figure { display: grid; grid-template-columns: minmax(0, 3fr) minmax(18rem, 2fr); gap: 1.5rem;
  align-items: start; margin: 0; }
.scroll { max-height: 30rem; overflow: auto; }
svg { width: 100%; height: auto; }
svg .s0 { stroke: var(--s0); } svg rect.s0, svg circle.s0 { fill: var(--s0); }
svg .s1 { stroke: var(--s1); } svg rect.s1, svg circle.s1 { fill: var(--s1); }
table { border-collapse: collapse; font-size: 0.85rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; color: var(--faint); padding-bottom: 0.3rem; }
th, td { padding: 0.15rem 0.5rem; border-bottom: 1px solid var(--line); text-align: right;
  white-space: nowrap; }
th:first-child { text-align: left; padding-left: 0; }
tbody th { font-weight: normal; }
.tables { display: flex; flex-wrap: wrap; align-items: flex-start; gap: 2rem 3rem;
  margin-top: 1.5rem; }
.tables > div { max-width: 100%; overflow-x: auto; }
@media (max-width: 60rem) { .figure { grid-template-columns: minmax(0, 1fr); } }
@media print { :root { --ground: #ffffff; --text: #000000; --faint: #444444; --line: #bbbbbb;
  --card: #ffffff; --s0: #0072b2; --s1: #c25400; }
  .scroll { max-height: none; overflow: visible; } section, .numbers div { break-inside: avoid; }
  .figure { grid-template-columns: minmax(0, 1fr); } body { padding: 0; } }
)";

std::string text_of(std::string_view text) { return markup_text(printable(text)); }

void put_table(const ReportTable& table, std::string& out) {
  out += "<table><caption>" + text_of(table.caption) + "</caption>\n<thead><tr>";
  for (const std::string& cell : table.head) {
    out += "<th scope=\"col\">" + text_of(cell) + "</th>";
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    out += "<tr>";
    for (std::size_t i = 0; i < row.size(); ++i) {
      out += i == 0 ? "<th scope=\"row\">" + text_of(row[i]) + "</th>"
                    : "<td>" + text_of(row[i]) + "</td>";
    }
    out += "</tr>\n";
  }
  out += "</tbody></table>\n";
}

void put_figure(const ReportFigure& figure, std::string& out) {
  out += fmt::format(
      "<section id=\"{0}\" aria-labelledby=\"{0}-title\">\n<h2 id=\"{0}-title\">{1}"
      "</h2>\n<p>{2}</p>\n",
      figure.name, text_of(figure.plot.title), text_of(figure.text));
  if (figure.plot.series.empty()) {
    out += "<p class=\"note\">There is nothing to show yet.</p>\n</section>\n";
    return;
  }
  out += "<div class=\"figure\">\n" + to_svg(figure.plot, PlotGround::kPage);
  out += "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"" +
         text_of(figure.table.caption) + "\">\n";
  put_table(figure.table, out);
  out += "</div>\n</div>\n</section>\n";
}

void put_numbers(const CrawlReport& report, std::string& out) {
  out += "<dl class=\"numbers\">\n";
  for (const ReportNumber& number : report_numbers(report)) {
    out += fmt::format(
        "<div><dt>{}</dt><dd class=\"value\">{}</dd><dd class=\"faint\">{}</dd></div>\n",
        text_of(number.name), text_of(number.value), text_of(number.remark));
  }
  out += "</dl>\n";
}

}  // namespace

std::string report_page(const CrawlReport& report) {
  const std::string archive = text_of(report.archive);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n"
      "<title>Crawl of {}</title>\n<style>{}</style>\n</head>\n<body>\n<header>\n"
      "<h1>Crawl of {}</h1>\n",
      archive, kStyle, archive);
  out += fmt::format(
      "<p class=\"faint\">Made {} by meguri {}. {} All numbers are of epoch {}, the last that was "
      "durable.</p>\n</header>\n<main>\n",
      report.made.to_rfc3339(), text_of(version()),
      report.is_running ? "The crawl was running." : "No crawl was running.", report.epoch);
  for (const std::string& note : report.notes) {
    out += "<p class=\"note\">" + text_of(note) + "</p>\n";
  }
  put_numbers(report, out);
  for (const ReportFigure& figure : report_figures(report)) put_figure(figure, out);
  out +=
      "<section aria-labelledby=\"more-title\">\n<h2 id=\"more-title\">In numbers</h2>\n"
      "<div class=\"tables\">\n";
  for (const ReportTable& table : report_tables(report)) {
    out += "<div>";
    put_table(table, out);
    out += "</div>\n";
  }
  return out + "</div>\n</section>\n</main>\n</body>\n</html>\n";
}

}  // namespace meguri::app
