// The files of one folder of data/: their names, finding one by name or alias, following `inherits`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "device/document.h"

namespace simtlab::device {

// Names without ".toml", sorted.
std::vector<std::string> list_data_files(const Subject& subject);
// A path, a name or an alias (in any case); empty if there is none.
std::filesystem::path find_data_file(const Subject& subject, const std::string& name_or_file);
// Documents from the named file to the root of what it inherits from. Throws Error(bad_input).
std::vector<Document> read_chain(const Subject& subject, std::filesystem::path path);
// The hint for a name that does not exist: the nearest one, and all.
std::string unknown_name_hint(const Subject& subject, const std::string& name);

}  // namespace simtlab::device
