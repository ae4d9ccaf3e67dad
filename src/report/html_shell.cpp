#include "report/html_shell.h"

#include <fmt/format.h>

#include "report/html_assets.h"

namespace simtlab::report {

ChartData html_words(const std::vector<const result::MetricDeclaration*>& declarations) {
  ChartData words = ChartData::object();
  for (const result::MetricDeclaration* d : declarations)
    words[std::string(d->name)] = {
        {"doc", d->doc}, {"unit", d->unit}, {"formula", d->formula}, {"aliases", d->aliases}};
  return words;
}

std::string html_document(const HtmlShell& shell, const std::string& body) {
  return fmt::format(
             "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
             "content=\"width=device-width, initial-scale=1\">\n"
             "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
             "'unsafe-inline' 'unsafe-eval'; style-src 'unsafe-inline'; img-src data:{}\">\n"
             "<meta name=\"generator\" content=\"{}\">\n<link rel=\"icon\" "
             "href=\"data:,\">\n<title>{}</title>\n<style>\n{}{}</style>\n</head>\n<body>\n<a class=\"skip\" "
             "href=\"#main\">To the content</a>\n",
             shell.fetches ? "; connect-src 'self'; form-action 'self'" : "", html_escaped(shell.generator),
             html_escaped(shell.title), page_style, shell.style) +
         body +
         fmt::format(
             "<footer>{}<p>Charts: Vega (BSD-3-Clause, &copy; University of Washington Interactive Data "
             "Lab).</p></footer>\n<div id=\"tip\" role=\"tooltip\" hidden></div>\n"
             "<noscript><p>Charts need scripts; the tables have the same data.</p></noscript>\n<script "
             "type=\"application/json\" "
             "id=\"words\">{}</script>\n<script>\n{}{}{}{}{}</script>\n</body>\n</html>\n",
             shell.footer, html_json(shell.words), modules_script, vega, charts_script, page_script,
             shell.script);
}

}  // namespace simtlab::report
