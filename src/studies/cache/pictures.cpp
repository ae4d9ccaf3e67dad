#include "studies/cache/pictures.h"

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "report/cache_pictures.h"
#include "studies/common/output.h"

namespace simtlab::studies {

Outcome plot_study(const Run& run, const Call& call, const std::string& folder) {
  OutputOptions output = run.output;
  check_outputs(output);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw Error(ExitCode::failure, "file-write", "cannot make the folder " + folder,
                "--plot takes a folder, which is made if it is not there");
  Outcome out(study_result(run, call), output);
  Writing writing;
  for (const report::Picture& picture : report::cache_pictures(*out.result))
    writing([&] { write_file_atomically(std::filesystem::path(folder) / picture.file, picture.content); });
  if (writing.failed()) out.unwritten.push_back(*writing.failed());
  if (!output.quiet) out.note = "pictures: " + (std::filesystem::path(folder) / "cache.html").string() + "\n";
  return out;
}

}  // namespace simtlab::studies
