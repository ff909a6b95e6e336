// The figures and tables of a CrawlReport, as they are shown.
#pragma once

#include <string>
#include <vector>

#include "app/crawl_report.h"
#include "app/svg_plot.h"

namespace meguri::app {

// Cells are plain text: the first of a row says what it is about, the others are numbers.
struct ReportTable {
  std::string caption;
  std::vector<std::string> head;
  std::vector<std::vector<std::string>> rows = {};
};

struct ReportFigure {
  std::string name;  // for links: "intervals"
  std::string text;  // how it is to be read
  Plot plot;
  ReportTable table;
};

// Figures 3 to 7 of paper 002; those of pages are left out where these could not be read.
std::vector<ReportFigure> report_figures(const CrawlReport& report);

// What visits came to, why pages are visited when they are, which hosts have the least room. Tables
// that have nothing to say are left out.
std::vector<ReportTable> report_tables(const CrawlReport& report);

// The main numbers: what, how many, and a remark that may be empty.
struct ReportNumber {
  std::string name;
  std::string value;
  std::string remark;
};
std::vector<ReportNumber> report_numbers(const CrawlReport& report);

// "12.3 %"; "–" of nothing.
std::string percent(std::uint64_t part, std::uint64_t whole);

}  // namespace meguri::app
