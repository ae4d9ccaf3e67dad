// docs/lab/validation.md: prose of docs/lab/validation.d with the kept rows of data/validation put in.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "studies/common/command.h"
#include "studies/common/studies.h"
#include "studies/validate/areas/validation.h"

namespace simtlab::studies {

// Every area with its kept rows, those of AREA.recorded.csv behind the others. Throws Error(bad_input).
std::vector<AreaReport> kept_rows(const std::filesystem::path& folder);

// The files NAME.md of `prose` by name, one after another. A line {{summary}}, {{rows AREA GROUP}} or
// {{missed AREA}} becomes a table or list of `areas`. Throws Error(bad_input, "validation-page") with the
// place for others, and where a group of rows is in no file or twice.
std::string validation_page(const std::filesystem::path& prose, const std::vector<AreaReport>& areas);

void add_validate_page(Command& validate);

}  // namespace simtlab::studies
