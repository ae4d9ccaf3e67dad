// Error ids that `simtlab explain` expands (pure data). The id stands in brackets after an error's message.
#include "report/glossary.h"

namespace simtlab::report {

const std::vector<Term>& error_ids() {
  static const std::vector<Term> terms = {
      {"file-missing", "A file that was named does not exist.",
       "Check the path; it is relative to the working directory."},
  };
  return terms;
}

}  // namespace simtlab::report
