// CUDA C++ to an executable: device half to PTX, host half with the PTX embedded, link with simtlab's
// libcudart.
//
// Deviation from nvcc: one architecture is embedded as plain PTX text; several are embedded one after another
// in the container that fat binaries use, and the runtime picks. Line information is always on: it changes no
// instruction.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "base/cache_folder.h"
#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "compile/build_cache.h"
#include "compile/compiler_messages.h"
#include "compile/dependencies.h"
#include "compile/device_code.h"
#include "compile/frontend.h"
#include "compile/nvcc_options.h"
#include "compile/process.h"
#include "compile/ptx_image.h"
#include "compile/rewritten.h"
#include "compile/toolchain.h"

namespace simtlab::compile {
namespace {

namespace fs = std::filesystem;
using Command = std::vector<std::string>;
constexpr std::uint64_t kLargestPtx = std::uint64_t{1} << 30, kLargestProduct = std::uint64_t{4} << 30;
// Part of every key: raise it when the commands below change in a way that the flags do not show.
constexpr const char* kCacheVersion = "simtlab-build-5";

void append(Command& c, const Command& more) { c.insert(c.end(), more.begin(), more.end()); }

class Builder {
 public:
  explicit Builder(const BuildRequest& request)
      : request_(request),
        options_(parse_nvcc_options(request.arguments,
                                    request.architecture.empty() ? "sm_70" : request.architecture)),
        cache_(request.cache.empty() ? default_cache() : request.cache),
        tools_(find_toolchain(cache_.folder(), options_.flush_denormals)),
        scratch_(cache_.folder()) {
    if (!request.output.empty()) options_.output = request.output.string();
    std::error_code ec;
    for (const SourceFile& s : options_.inputs)
      if (!options_.output.empty() && fs::equivalent(s.path, options_.output, ec))
        throw Error(ExitCode::usage, "option-conflict",
                    "-o " + options_.output + " would overwrite " + s.path, "choose another name");
    if (options_.compile_only || options_.ptx_only || options_.dependencies.only) {
      if (!options_.output.empty()) check_writable(options_.output);
    } else {
      check_writable(options_.output.empty() ? "a.out" : options_.output);
    }
    result_.notes = options_.notes;
    for (const std::string& warning : options_.warnings)
      if (!options_.quiet) tell(fmt::format("warning: {}\n", warning));
    result_.from_cache = true;
    if (options_.openmp)
      result_.notes.push_back(
          "-fopenmp: OpenMP pragmas of files that clang compiles run on one thread; .c and .cpp files go to "
          "g++");
  }

  BuildResult run() {
    if (options_.dependencies.only) return dependencies_only();
    if (!options_.compile_only && !options_.ptx_only && tools_.library.empty())
      throw Error(ExitCode::unavailable, "libcudart-missing",
                  "simtlab's libcudart.so.12 is not beside the program",
                  "build the target simtlab_programs, or set SIMTLAB_LIBRARY_DIR");
    std::vector<fs::path> objects;
    for (const SourceFile& s : options_.inputs) {
      if (s.language == Language::link) continue;
      if (options_.ptx_only && s.language != Language::cuda) continue;
      const fs::path product =
          with_room(cache_.folder(), "compilation of " + s.path, [&] { return compile(s); });
      if (options_.compile_only || options_.ptx_only) {
        const fs::path plain =
            fs::path(s.path).filename().replace_extension(options_.ptx_only ? ".ptx" : ".o");
        const fs::path output = options_.output.empty() ? plain : fs::path(options_.output);
        deliver(product, output, false);
        tell_dependencies(s, output);
      } else {
        objects.push_back(product);
        tell_dependencies(s, options_.output.empty() ? fs::path("a.out") : fs::path(options_.output));
      }
    }
    if (!options_.compile_only && !options_.ptx_only)
      with_room(cache_.folder(), "linking", [&] { link(objects); });
    return result_;
  }

 private:
  std::string key_of(const std::string& kind, const Command& words) const {
    std::string text = std::string(kCacheVersion) + "\n" + kind + "\n" + tools_.version + "\n";
    for (const std::string& w : words) text += std::to_string(w.size()) + ":" + w + "\n";
    return hash_bytes(text);
  }

  // Messages of a success are told; those of a failure are left to failed().
  ProcessResult execute(Command c, unsigned seconds = 0) {
    if (request_.colour) c.insert(c.begin() + 1, "-fdiagnostics-color=always");
    if (request_.verbose) {
      std::string line;
      for (const std::string& w : c) line += (line.empty() ? "" : " ") + w;
      result_.commands.push_back(line);
    }
    result_.from_cache = false;
    ProcessResult result = run_process(c, Capture::messages, seconds);
    if (!rewritten_.files.empty()) name_as_written(result.output);
    if (result.status == 0) tell(result.output);
    return result;
  }

  void tell(const std::string& messages) const {
    if (messages.empty()) return;
    if (request_.tell)
      request_.tell(messages);
    else
      std::fwrite(messages.data(), 1, messages.size(), stderr);
  }

  // what: "device compilation of app.cu".
  [[noreturn]] void failed(const ProcessResult& result, const std::string& what, const char* id,
                           const std::string& hint) const {
    constexpr std::size_t screen = 20;  // lines
    const Diagnosis d = diagnose(result.output, request_.verbose ? std::string::npos : screen);
    std::error_code ec;
    constexpr std::uintmax_t little = 64u << 10;
    if (d.no_room || fs::space(cache_.folder(), ec).available < little) throw no_room(cache_.folder(), what);
    tell(request_.verbose ? result.output : d.shown);
    const std::string rest = d.left_out == 0 || request_.verbose
                                 ? ""
                                 : fmt::format("{} more lines of messages: -v shows them", d.left_out);
    if (!d.lacking.empty())
      throw Error(ExitCode::unsupported, "cuda-absent", fmt::format("{} failed: {}", what, d.lacking), rest);
    throw Error(ExitCode::bad_input, id,
                fmt::format("{} failed{}{}", what, d.first.empty() ? "" : ": ", d.first),
                rest.empty() ? hint : rest);
  }

  // Flags that clang needs to compile CUDA without NVIDIA's toolkit.
  Command cuda_base() const {
    Command c = cuda_compiler(tools_.clang);
    append(c, {"-isystem", tools_.include.string(), "-include", "cuda_runtime.h", "-Wno-unknown-cuda-version",
               "-Wno-unknown-pragmas", "-Wno-error=c++11-narrowing", "-Wno-error=register",
               "-Wno-reserved-user-defined-literal", "-Wno-unused-command-line-argument"});
    return c;
  }

  Command host_flags() const {
    Command c{options_.optimisation, "-ffp-contract=off"};
    if (options_.debug || options_.device_debug) c.push_back("-g");
    if (options_.quiet) c.push_back("-w");
    if (options_.shared) c.push_back("-fPIC");
    append(c, options_.host);
    return c;
  }

  // Of device code: -O is for the host.
  bool optimised() const { return !options_.device_debug || options_.device_optimised; }

  Command device_flags() const {
    Command c{"-gline-directives-only", "-w"};
    append(c, optimised() ? optimised_device_code(options_.assembler_level) : Command{"-O0"});
    // `if (lane == 0) x = atomicAdd(...); x = __shfl_sync(mask, x, 0);` passes an x to the shuffle that most
    // lanes have not set. nvcc allows that; clang's rule that arguments are defined would let it drop the
    // `if`.
    append(c, {"-Xclang", "-no-enable-noundef-analysis"});
    c.push_back(options_.fuse_multiply_add ? "-ffp-contract=fast" : "-ffp-contract=off");
    if (options_.flush_denormals) c.push_back("-fgpu-flush-denormals-to-zero");
    if (options_.fast_math) c.push_back("-fgpu-approx-transcendentals");
    // The back end's own switches: 0 approximate, 1 full range, 2 IEEE.
    if (!options_.precise_division)
      append(c, {"-mllvm", options_.fast_math ? "-nvptx-prec-divf32=0" : "-nvptx-prec-divf32=1"});
    if (!options_.precise_sqrt) append(c, {"-mllvm", "-nvptx-prec-sqrtf32=0"});
    return c;
  }

  // Everything that decides the product besides the contents of files.
  Command identity(const SourceFile& s) const {
    Command c{fs::absolute(s.path).lexically_normal().string(),
              fs::current_path().string(),
              tools_.clang,
              hash_file(tools_.devmath),
              tools_.include.string(),
              std::to_string(options_.max_registers),
              options_.openmp ? "openmp" : "",
              options_.ptx_only ? "ptx" : "object"};
    append(c, options_.common);
    append(c, host_flags());
    append(c, device_flags());
    append(c, options_.architectures);
    return c;
  }

  fs::path compile(const SourceFile& s) {
    const std::string key = key_of(s.language == Language::cuda  ? "cuda"
                                   : s.language == Language::cxx ? "c++"
                                                                 : "c",
                                   identity(s));
    if (const auto hit = cache_.find(key)) {
      if (options_.dependencies.wanted) read_ = cache_.read_for(key);
      return *hit;
    }
    read_.clear();
    const fs::path product = s.language == Language::cuda ? compile_cuda(s, read_) : compile_host(s, read_);
    return cache_.store(key, product, read_);
  }

  // -MD and -MMD, of the source that was compiled last.
  void tell_dependencies(const SourceFile& s, const fs::path& output) const {
    const DependencyWish& wish = options_.dependencies;
    if (!wish.wanted) return;
    const fs::path file = wish.file.empty() ? fs::path(output).replace_extension(".d") : fs::path(wish.file);
    write_file_atomically(file, rule_of(s, output.string()));
  }
  std::string rule_of(const SourceFile& s, const std::string& output) const {
    const DependencyWish& wish = options_.dependencies;
    return dependency_rule(wish, wish.target.empty() ? output : wish.target, s.path, read_, tools_.include);
  }

  // -std=c++NN means nothing for C.
  Command common_for(Language language) const {
    Command c = options_.common;
    if (language == Language::c)
      std::erase_if(c, [](const std::string& w) { return w.starts_with("-std="); });
    return c;
  }

  // -M and -MM: the preprocessor alone looks at the sources.
  BuildResult dependencies_only() {
    const DependencyWish& wish = options_.dependencies;
    for (const SourceFile& s : options_.inputs) {
      if (s.language == Language::link) continue;
      const char* const language = s.language == Language::cxx ? "c++" : "c";
      Command c{tools_.clang, "-x", language, "-isystem", tools_.include.string()};
      if (s.language == Language::cuda) c = cuda_base();
      if (s.language == Language::cuda) c.push_back("--cuda-host-only");
      append(c, options_.host);
      append(c, common_for(s.language));
      append(c,
             {"-M", "-MF", (scratch_ / "host.d").string(), fs::absolute(s.path).lexically_normal().string()});
      if (const ProcessResult r = execute(std::move(c)); r.status != 0)
        failed(r, "preprocessing of " + s.path, "compile-failed", "");
      read_.clear();
      note_dependencies(scratch_ / "host.d", read_);
      result_.dependencies += rule_of(s, fs::path(s.path).filename().replace_extension(".o").string());
    }
    const std::string file = options_.output.empty() ? wish.file : options_.output;
    if (file.empty()) return result_;
    write_file_atomically(file, result_.dependencies);
    result_.dependencies.clear();
    return result_;
  }

  void note_dependencies(const fs::path& file, std::vector<fs::path>& read) const {
    for (fs::path& f : read_dependencies(read_file(file, kLargestPtx, "dependency file")))
      read.push_back(fs::absolute(f));
    std::sort(read.begin(), read.end());
    read.erase(std::unique(read.begin(), read.end()), read.end());
  }

  // Files that clang would not take as they are are shown to it in a rewritten form under their own names.
  void rewrite_source(const SourceFile& s) {
    rewritten_ = rewrite(s.path, wish_);
    overlay_ = overlay_options(rewritten_, scratch_);
    if (options_.quiet) return;
    for (const std::string& warning : rewritten_.warnings)
      if (std::ranges::find(warned_, warning) == warned_.end()) tell(warned_.emplace_back(warning));
  }

  // The PTX of a source for one architecture.
  std::string compile_device(const SourceFile& s, const std::string& architecture, const Options& more,
                             std::vector<fs::path>& read) {
    const std::string source = fs::absolute(s.path).lexically_normal().string();
    const fs::path ptx = scratch_ / (architecture + ".ptx");
    Command c = cuda_base();
    append(c, {"--cuda-device-only", "--cuda-gpu-arch=" + architecture, "--cuda-feature=+ptx78"});
    append(c, device_flags());
    append(c, more);
    append(c, device_options(rewritten_));
    if (options_.openmp) append(c, omp_header());
    append(c, options_.common);
    append(c, overlay_);
    append(c, {"-Xclang", "-mlink-builtin-bitcode", "-Xclang", tools_.devmath.string()});
    append(c, {"-MD", "-MF", (scratch_ / "device.d").string(), "-S", source, "-o", ptx.string()});
    const ProcessResult r = execute(std::move(c), rewritten_.counts ? request_.unroll_seconds : 0);
    if (rewritten_.counts && was_killed(r)) {
      wish_.most_copies = few_copies;
      rewrite_source(s);
      return compile_device(s, architecture, more, read);
    }
    if (r.status != 0)
      failed(r, fmt::format("device compilation ({}) of {}", architecture, s.path), "compile-failed", "");
    note_dependencies(scratch_ / "device.d", read);
    return read_file(ptx, kLargestPtx, "PTX");
  }

  fs::path compile_cuda(const SourceFile& s, std::vector<fs::path>& read) {
    const std::string source = fs::absolute(s.path).lexically_normal().string();
    wish_ = wish_of(options_.common);
    rewrite_source(s);
    std::vector<PtxImage> images;
    for (const std::string& architecture : options_.architectures) {
      const auto compile = [&](const Options& more) { return compile_device(s, architecture, more, read); };
      std::string text = optimised() ? unrolled_as_nvcc(compile) : compile({});
      if (options_.max_registers > 0) limit_registers(text, options_.max_registers);
      images.push_back({architecture, std::move(text)});
    }
    if (options_.ptx_only) {
      const fs::path out = scratch_ / "device.ptx";
      write_file_atomically(out, images.front().text);
      return out;
    }
    const fs::path image = scratch_ / "image.bin";
    write_file_atomically(image, make_image(images));
    const fs::path object = scratch_ / "host.o";
    Command c = cuda_base();
    append(c, {"--cuda-host-only", "-Xclang", "-fcuda-include-gpubinary", "-Xclang", image.string()});
    append(c, host_flags());
    if (options_.openmp) append(c, openmp_flags());
    append(c, options_.common);
    append(c, overlay_);
    append(c, {"-MD", "-MF", (scratch_ / "host.d").string(), "-c", source, "-o", object.string()});
    if (const ProcessResult r = execute(std::move(c)); r.status != 0)
      failed(r, "host compilation of " + s.path, "compile-failed", "");
    note_dependencies(scratch_ / "host.d", read);
    return object;
  }

  // Our omp.h goes to the next one. That's gcc's if there is no other: clang's own OpenMP is a separate
  // package.
  Command omp_header() const {
    Command c{"-isystem", (tools_.include / "simtlab/openmp").string()};
    const std::string gcc = find_program("gcc");
    if (gcc.empty()) return c;
    std::string folder = run_process({gcc, "-print-file-name=include"}, Capture::output).output;
    while (!folder.empty() && folder.back() == '\n') folder.pop_back();
    append(c, {"-idirafter", folder});
    return c;
  }

  Command openmp_flags() const {
    Command c{"-fopenmp=libgomp"};
    append(c, omp_header());
    return c;
  }

  fs::path compile_host(const SourceFile& s, std::vector<fs::path>& read) {
    const bool cxx = s.language == Language::cxx;
    const std::string gcc = options_.openmp ? find_program(cxx ? "g++" : "gcc") : std::string();
    const fs::path object = scratch_ / "host.o";
    Command c{gcc.empty() ? tools_.clang : gcc, "-x", cxx ? "c++" : "c", "-isystem", tools_.include.string()};
    // Old C that gcc 12 compiles with a warning.
    if (!cxx && gcc.empty())
      append(c, {"-Wno-error=implicit-function-declaration", "-Wno-error=implicit-int",
                 "-Wno-error=int-conversion", "-Wno-error=incompatible-function-pointer-types"});
    if (cxx && gcc.empty()) append(c, {"-Wno-error=register", "-Wno-reserved-user-defined-literal"});
    append(c, host_flags());
    if (options_.openmp) append(c, gcc.empty() ? openmp_flags() : Command{"-fopenmp"});
    append(c, common_for(s.language));
    append(c, {"-MD", "-MF", (scratch_ / "host.d").string(), "-c",
               fs::absolute(s.path).lexically_normal().string(), "-o", object.string()});
    if (const ProcessResult r = execute(std::move(c)); r.status != 0)
      failed(r, "compilation of " + s.path, "compile-failed", "");
    note_dependencies(scratch_ / "host.d", read);
    return object;
  }

  void link(const std::vector<fs::path>& objects) {
    const fs::path output = options_.output.empty() ? fs::path("a.out") : fs::path(options_.output);
    Command words = options_.link;
    append(words, options_.host);
    words.push_back(options_.shared ? "shared" : "executable");
    words.push_back(options_.openmp ? "openmp" : "");
    words.push_back(tools_.library.string());
    words.push_back(fs::current_path().string());
    std::vector<fs::path> read = objects;
    bool known_libraries = true;
    for (const std::string& w : options_.link) {
      if (w[0] != '-')
        read.push_back(fs::absolute(w));
      else
        known_libraries &= w == "-lm" || w == "-lpthread" || w == "-ldl" || w == "-lrt" || w == "-lstdc++";
    }
    for (const fs::path& o : objects) words.push_back(o.string());
    const std::string key = key_of("link", words);
    if (known_libraries)
      if (const auto hit = cache_.find(key)) return deliver(*hit, output, true);
    const fs::path product = scratch_ / "program.exe";
    Command c{tools_.clang, "--driver-mode=g++"};
    if (options_.shared) c.push_back("-shared");
    append(c, options_.host);
    for (const fs::path& o : objects) c.push_back(o.string());
    append(c, options_.link);
    append(c,
           {"-L" + tools_.library.string(), "-l:libcudart.so.12", "-Wl,-rpath," + tools_.library.string()});
    if (options_.openmp) c.push_back("-lgomp");
    append(c, {"-lm", "-o", product.string()});
    if (const ProcessResult r = execute(std::move(c)); r.status != 0)
      failed(r, "linking " + output.string(), "link-failed",
             "a missing C++ library comes with the Debian package g++");
    deliver(cache_.store(key, product, read), output, true);
  }

  // Copies out of the cache so that the output appears in one step.
  void deliver(const fs::path& product, const fs::path& output, bool executable) {
    std::error_code ec;
    write_file_atomically(output, read_file(product, kLargestProduct, "build product"));
    if (executable && fs::is_regular_file(output, ec))
      fs::permissions(output, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec,
                      fs::perm_options::add, ec);
    result_.executable = output;
  }

  const BuildRequest& request_;
  NvccOptions options_;
  BuildCache cache_;
  Toolchain tools_;
  ScratchFolder scratch_;
  RewriteWish wish_;  // of the source that is being compiled
  Rewritten rewritten_;
  Command overlay_;
  std::vector<std::string> warned_;
  std::vector<fs::path> read_;  // files that the source compiled last was made from
  BuildResult result_;
};

}  // namespace

BuildResult build(const BuildRequest& request) { return Builder(request).run(); }

}  // namespace simtlab::compile
