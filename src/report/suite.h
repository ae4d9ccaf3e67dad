// Printers of what became of a folder's programs (simtlab suite). Sample of the text:
//
//   suite samples: 4 programs; 3 built, 2 ran, 2 passed their own check
//
//   program     built  ran  check   simulated  host     why not
//   bad.cu      no     -    -                           bad.cu:3:5: error: use of undeclared identifier 'x'
//   reduce      yes    yes  PASSED  12.3 us    1.24 s
#pragma once

#include <string>

#include "report/format.h"
#include "result/suite.h"

namespace simtlab::report {

std::string suite_text(const result::Suite& suite, const Style& style);
std::string suite_csv(const result::Suite& suite);
std::string suite_json(const result::Suite& suite);
std::string suite_html(const result::Suite& suite);

}  // namespace simtlab::report
