#include "studies/trace/convert.h"

#include <fmt/format.h>

#include <memory>

#include "base/error.h"
#include "base/shown.h"
#include "stream/accelsim/export.h"
#include "stream/accelsim/import.h"
#include "stream/access_text/import.h"
#include "studies/common/command.h"
#include "studies/common/options.h"
#include "studies/common/progress.h"
#include "studies/common/signals.h"
#include "studies/trace/traced_code.h"

namespace simtlab::studies {
namespace {

namespace trace = stream::trace;
namespace accelsim = stream::accelsim;

struct ConvertOptions {
  std::string in, out, cubin;
  unsigned version = 70;
};

Outcome convert(const ConvertOptions& o) {
  const Signals signals(0);
  const Progress progress("converting", OutputOptions{}, Progress::Stopped::loses);
  if (is_accelsim(o.in)) {
    import_accelsim(o.in, o.out, o.cubin, signals.flag());
    return {};
  }
  if (!o.cubin.empty())
    throw Error(ExitCode::usage, "option-conflict",
                "--cubin is for Accel-Sim's traces: others have the code that ran, or none", "leave it out");
  if (is_access_text(o.in)) {
    import_access_text(o.in, o.out, signals.flag());
    return {};
  }
  if (machine::generation(o.version).empty())
    throw Error(ExitCode::usage, "option-value",
                fmt::format("--binary-version {} is of no generation from Fermi to Hopper", o.version),
                "70, 75, 80, 86 or 90");
  const std::unique_ptr<trace::Reader> reader = trace::open(o.in);
  const std::uint64_t kernels = accelsim::export_trace(*reader, o.out, o.version, signals.flag());
  talk(fmt::format("{}/kernelslist.g: {} kernels\n", shown(o.out), kernels));
  return {};
}

}  // namespace

bool is_accelsim(const std::string& file) { return accelsim::is_list(file) || accelsim::is_kernel(file); }

bool is_access_text(const std::string& file) { return stream::access_text::is_access_text(file); }

void import_access_text(const std::string& file, const std::filesystem::path& to, const volatile bool* stop) {
  trace::Writer writer(to, "a text of accesses");
  stream::access_text::import(file, writer, stop);
  writer.close();
}

void import_accelsim(const std::string& file, const std::filesystem::path& to, const std::string& cubin,
                     const volatile bool* stop) {
  trace::Writer writer(to, "an Accel-Sim trace");
  const accelsim::Imported imported = accelsim::import(file, writer, stop, find_code_in(cubin));
  writer.close();
  if (!cubin.empty() && imported.with_code < imported.kernels)
    talk(fmt::format(
        "note: {} has the machine code of {} of {} kernels; the others are timed by their opcodes\n",
        shown(cubin), imported.with_code, imported.kernels));
  if (!imported.unknown.empty()) {
    std::string list;
    for (const auto& [opcode, count] : imported.unknown)
      list += fmt::format("{}{} ({})", list.empty() ? "" : ", ", shown(opcode, 60), count);
    talk(fmt::format(
        "note: opcodes that data/machine/classes does not know, timed as int_alu (executed so often): {}\n",
        shown(list, 4000)));
  }
  if (imported.ends_added > 0)
    talk(fmt::format("note: {} warps end without EXIT; one was added to each\n", imported.ends_added));
}

void add_trace_convert(Command& trace) {
  Command* sub = trace.add_subcommand(
      "convert",
      "Accel-Sim's format or a text of accesses to ours (FILE.simt), or ours to Accel-Sim's (a folder)");
  const auto o = std::make_shared<ConvertOptions>();
  sub->add_option("FROM", o->in, "kernelslist.g, kernel-N.traceg[.xz], accesses.trace or FILE.simt")
      ->required();
  sub->add_option("-o,--output", o->out, "FILE.simt, or the folder for kernelslist.g and its kernels")
      ->required()
      ->check(output_file_or_folder())
      ->type_name("FILE|FOLDER");
  sub->add_option(
         "--cubin", o->cubin,
         "Machine code of an Accel-Sim trace's kernels: a cubin, or an executable or library with some")
      ->type_name("FILE");
  sub->add_option(
         "--binary-version", o->version,
         "Generation that a written Accel-Sim trace claims: 70 (default), 75, 80, 86, 90; of machine "
         "code its own")
      ->type_name("N");
  sub->action([o](const Call&) { return convert(*o); });
}

}  // namespace simtlab::studies
