#include "cli/cache_pictures.h"

#include <unistd.h>

#include <filesystem>

#include "base/error.h"
#include "base/files.h"
#include "cli/output.h"
#include "report/cache_pictures.h"

namespace simtlab::cli {

int plot_study(const Run& run, const Target& target, const std::string& folder) {
  OutputOptions output = run.output;
  check_outputs(output);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error || !std::filesystem::is_directory(folder))
    throw Error(ExitCode::failure, "file-write", "cannot make the folder " + folder,
                "--plot takes a folder, which is made if it is not there");
  const result::Result result = study_result(run, target);
  Writing writing;
  for (const report::Picture& picture : report::cache_pictures(result))
    writing([&] { write_file_atomically(std::filesystem::path(folder) / picture.file, picture.content); });
  writing([&] { write_outputs(result, output, STDOUT_FILENO); });
  writing.end();
  if (!output.quiet) talk("pictures: " + (std::filesystem::path(folder) / "cache.html").string() + "\n");
  return 0;
}

}  // namespace simtlab::cli
