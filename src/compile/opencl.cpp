#include "compile/opencl.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "base/cache_folder.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/private_folder.h"
#include "base/shown.h"
#include "compile/build_cache.h"
#include "compile/compiler_messages.h"
#include "compile/device_code.h"
#include "compile/opencl_metadata.h"
#include "compile/process.h"
#include "compile/ptx_image.h"
#include "compile/rewritten.h"
#include "compile/toolchain.h"

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;

constexpr std::uint64_t kLargestSource = std::uint64_t{64} << 20, kLargestPtx = std::uint64_t{1} << 30;
// Part of every key: raise it when the commands below change in a way that the flags do not show.
constexpr const char* kCacheVersion = "simtlab-opencl-5";
constexpr int most_assembled = 3;  // the highest level, and the default
constexpr std::string_view kImages = "the simulated device has no images";  // of the prelude

// Bitcode of the built-in functions for NVIDIA's work-item registers.
fs::path find_libclc() {
  std::vector<fs::path> folders;
  if (const char* chosen = std::getenv("SIMTLAB_LIBCLC"); chosen != nullptr && *chosen != '\0')
    folders.emplace_back(chosen);
  for (const char* usual : {"/usr/lib/clc", "/usr/lib/llvm-19/lib/clc", "/usr/share/clc", "/usr/libexec/clc",
                            "/usr/local/lib/clc", "/usr/local/share/clc"})
    folders.emplace_back(usual);
  std::error_code ec;
  for (const fs::path& folder : folders)
    if (const fs::path file = folder / "nvptx64--nvidiacl.bc"; fs::exists(file, ec)) return file;
  throw Error(
      ExitCode::unavailable, "libclc-missing", "compiling OpenCL C needs libclc, which is not installed",
      "install the Debian package libclc-19, or let SIMTLAB_LIBCLC name the folder of nvptx64--nvidiacl.bc");
}

void replace_all(std::string& text, std::string_view what, std::string_view by) {
  for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
    text.replace(at, what.size(), by);
}

// clang's printf packs its arguments as CUDA's vprintf takes them: only the name differs.
void rename_printf(std::string& ptx) {
  constexpr std::string_view declaration = ".func  (.param .b32 func_retval0) printf\n";
  const std::size_t at = ptx.find(declaration);
  if (at == std::string::npos) return;
  ptx.replace(at, declaration.size(), ".extern .func  (.param .b32 func_retval0) vprintf\n");
  replace_all(ptx, "\tprintf, \n", "\tvprintf, \n");
}

// The constant that work-item functions of the prelude read.
void declare_launch_values(std::string& ptx) {
  if (ptx.find("[simtlab_launch+") == std::string::npos) return;
  constexpr std::string_view after = ".address_size 64\n";
  const std::size_t at = ptx.find(after);
  if (at != std::string::npos)
    ptx.insert(at + after.size(), ".visible .const .align 4 .b32 simtlab_launch[4];\n");
}

class Compiler {
 public:
  explicit Compiler(const OpenClRequest& request)
      : request_(request),
        options_(parse_opencl_options(request.options)),
        cache_(request.cache.empty() ? default_cache() : request.cache),
        tools_(find_opencl_toolchain()),
        libclc_(find_libclc()) {
    build_.notes = options_.notes;
  }

  OpenClBuild run() {
    return with_room(cache_.folder(), "compilation of " + shown(request_.source.string()),
                     [&] { return compile_in_cache(); });
  }

 private:
  OpenClBuild compile_in_cache() {
    source_ = request_.text ? keep_text() : request_.source;
    // Its message is better than clang's
    if (!request_.text) static_cast<void>(read_file(source_, kLargestSource, "OpenCL source"));
    const std::string key = cache_key();
    if (const auto hit = cache_.find(key)) {
      build_.from_cache = true;
      build_.ptx = read_file(*hit, kLargestPtx, "PTX");
      return std::move(build_);
    }
    const ScratchFolder scratch(cache_.folder());
    const fs::path ptx = scratch / "kernel.ptx", dependencies = scratch / "kernel.d";
    bool compiled = true;
    wish_ = wish_of(options_.clang);
    wish_.cuda = false;
    rewrite_source(scratch);
    const auto once = [&](const Options& more) {
      compiled = compiled && compile(scratch, more);
      return compiled ? read_file(ptx, kLargestPtx, "PTX") : std::string();
    };
    const bool as_nvcc = options_.level == most_assembled && !options_.unrolls;
    std::string text = as_nvcc ? unrolled_as_nvcc(once) : once({});
    if (!compiled) return std::move(build_);
    rename_printf(text);
    declare_launch_values(text);
    if (options_.max_registers > 0) limit_registers(text, options_.max_registers);
    std::vector<fs::path> read;
    for (fs::path& file : read_dependencies(read_file(dependencies, kLargestPtx, "dependency file")))
      read.push_back(fs::absolute(file));
    if (options_.argument_info || requires_sizes(read))
      add_facts(text, facts(scratch / "kernel.ll"), options_.argument_info);
    write_file_atomically(ptx, text);
    cache_.store(key, ptx, read);
    build_.ptx = std::move(text);
    return std::move(build_);
  }

  // A text is kept beside the products, so that reports can show its lines.
  fs::path keep_text() const {
    if (request_.text->size() > kLargestSource)
      throw Error(ExitCode::bad_input, "file-too-large", "the OpenCL source is larger than 64 MiB");
    const fs::path file = cache_.folder() / fmt::format("opencl-{}.cl", hash_bytes(*request_.text));
    if (!is_own_file(file)) write_file_atomically(file, *request_.text);
    return file;
  }

  Command flags() const {
    Command c{"-x",
              "cl",
              "--target=nvptx64-nvidia-nvcl",
              "-include",
              tools_.prelude.string(),
              "-Xclang",
              "-target-cpu",
              "-Xclang",
              request_.architecture,
              "-gline-directives-only",
              "-gdwarf-2",
              "-fno-crash-diagnostics",
              "-fno-color-diagnostics",
              "-Xclang",
              "-mlink-builtin-bitcode",
              "-Xclang",
              libclc_.string(),
              "-Wno-linker-warnings",
              "-Wno-unused-command-line-argument"};
    const Options level =
        options_.level == 0 ? Options{"-O0"} : optimised_device_code(most_assembled, options_.level);
    c.insert(c.end(), level.begin(), level.end());
    if (request_.global_offset) c.push_back("-DSIMTLAB_GLOBAL_OFFSET");
    c.insert(c.end(), options_.clang.begin(), options_.clang.end());
    // Programs give their sources as text and expect #include "..." to look in the folder where they run.
    if (request_.text) c.insert(c.end(), {"-iquote", "."});
    return c;
  }

  std::string cache_key() const {
    std::string text =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n", kCacheVersion, tools_.version, hash_file(libclc_),
                    hash_file(tools_.prelude), fs::absolute(source_).lexically_normal().string(),
                    fs::current_path().string());
    Command words = flags();
    words.push_back(std::to_string(options_.max_registers));
    words.push_back(options_.argument_info ? "argument info" : "");
    words.push_back(options_.unrolls ? "unrolls" : "");
    for (const std::string& w : words) text += std::to_string(w.size()) + ":" + w + "\n";
    return hash_bytes(text);
  }

  // Loops with numbers of copies that are of no use are shown to clang without them.
  void rewrite_source(const ScratchFolder& scratch) {
    rewritten_ = rewrite(source_, wish_);
    overlay_ = overlay_options(rewritten_, scratch);
  }

  bool compile(const ScratchFolder& scratch, const Options& unrolling) {
    Command c{tools_.clang};
    for (const Command& more : {flags(), unrolling, overlay_, device_options(rewritten_)})
      c.insert(c.end(), more.begin(), more.end());
    c.insert(c.end(), {"-MD", "-MF", (scratch / "kernel.d").string(), "-S", source_.string(), "-o",
                       (scratch / "kernel.ptx").string()});
    if (request_.verbose) build_.commands.push_back(fmt::format("{}", fmt::join(c, " ")));
    const ProcessResult r = run_process(c, Capture::all, rewritten_.counts ? request_.unroll_seconds : 0);
    if (rewritten_.counts && was_killed(r)) {
      wish_.most_copies = few_copies;
      rewrite_source(scratch);
      return compile(scratch, unrolling);
    }
    const std::string name = request_.source.string();
    build_.log.clear();
    if (std::ranges::find(options_.clang, "-w") == options_.clang.end())
      build_.log = fmt::format("{}", fmt::join(rewritten_.warnings, ""));
    replace_all(build_.log, fs::absolute(source_).lexically_normal().string(), name);
    build_.log += r.output;
    if (request_.text) replace_all(build_.log, source_.string(), name);
    if (r.status == 0) return true;
    if (diagnose(build_.log, 0).no_room) {
      build_.log.clear();  // a compiler that crashes says a lot
      build_.failure = std::make_shared<Error>(no_room(cache_.folder(), "compilation of " + shown(name)));
    } else if (build_.log.find(kImages) != std::string::npos) {
      build_.failure = std::make_shared<Error>(
          ExitCode::unsupported, "opencl-image",
          fmt::format("{} uses images, samplers or pipes, which the simulated device does not have",
                      shown(name)),
          "keep the data in buffers; the compiler's messages name the lines");
    } else {
      build_.failure = std::make_shared<Error>(
          ExitCode::bad_input, "compile-failed",
          fmt::format("compilation of {} failed: the compiler's messages are above", shown(name)));
    }
    return false;
  }

  static bool requires_sizes(const std::vector<fs::path>& read) {
    return std::ranges::any_of(read, [](const fs::path& file) {
      return read_file(file, kLargestSource, "OpenCL source").find("reqd_work_group_size") !=
             std::string::npos;
    });
  }

  // Read from LLVM's text, which costs another, short run: only for programs that need it.
  std::vector<KernelFacts> facts(const fs::path& ir) const {
    Command c{tools_.clang};
    const Command more = flags();
    c.insert(c.end(), more.begin(), more.end());
    c.insert(c.end(), overlay_.begin(), overlay_.end());
    c.insert(c.end(), {"-cl-kernel-arg-info", "-w", "-emit-llvm", "-Xclang", "-disable-llvm-passes", "-S",
                       source_.string(), "-o", ir.string()});
    if (run_process(c, Capture::all).status != 0) return {};
    return kernel_facts(read_file(ir, kLargestPtx, "LLVM assembly"));
  }

  const OpenClRequest& request_;
  OpenClOptions options_;
  BuildCache cache_;
  OpenClToolchain tools_;
  fs::path libclc_, source_;
  RewriteWish wish_;
  Rewritten rewritten_;
  Command overlay_;
  OpenClBuild build_;
};

}  // namespace

OpenClBuild compile_opencl(const OpenClRequest& request) { return Compiler(request).run(); }

bool is_opencl_source(const std::string& name) { return name.ends_with(".cl"); }

}  // namespace simtlab::compile
