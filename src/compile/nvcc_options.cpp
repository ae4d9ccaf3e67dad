#include "compile/nvcc_options.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/files.h"
#include "compile/frontend.h"
#include "compile/limited.h"

namespace simtlab::compile {
namespace {

// Virtual architectures that clang 19 knows; the newest one stands in for what is newer.
const std::vector<std::string> kArchitectures = {"20", "21", "30", "32", "35", "37", "50",
                                                 "52", "53", "60", "61", "62", "70", "72",
                                                 "75", "80", "86", "87", "89", "90", "90a"};

constexpr std::uint64_t kLargestOptionFile = std::uint64_t{1} << 20;
constexpr unsigned kMostOptionFiles = 32;
constexpr int most_registers = 255;

[[noreturn]] void usage(const std::string& message, const std::string& hint = {}) {
  throw Error(ExitCode::usage, "build-option", message, hint);
}
[[noreturn]] void unsupported(const std::string& message, const std::string& hint) {
  throw Error(ExitCode::unsupported, "build-unsupported", message, hint);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::string part;
  for (const char c : text) {
    if (c == separator) {
      if (!part.empty()) parts.push_back(part);
      part.clear();
    } else if (c != '"' && c != '\'') {
      part += c;
    }
  }
  if (!part.empty()) parts.push_back(part);
  return parts;
}

[[noreturn]] void refuse_machine(const std::string& value) {
  usage(
      "--machine takes 64 (programs of 64 bits, as with nvcc) or a source file (`simtlab build --machine "
      "app.cu` prints its machine code): '" +
      value + "' is neither");
}

bool is_true(const std::string& option, const std::string& value) {
  if (value == "true") return true;
  if (value == "false") return false;
  usage(option + " takes true or false, not '" + value + "'");
}

class Parser {
 public:
  explicit Parser(std::vector<std::string> arguments) : arguments_(std::move(arguments)) { make_tables(); }

  bool takes_value(const std::string& option) const { return values_.contains(option); }
  bool knows(const std::string& option) const { return values_.contains(option) || flags_.contains(option); }

  NvccOptions run(const std::string& default_architecture) {
    for (; at_ < arguments_.size(); ++at_) option(arguments_[at_]);
    if (o_.architectures.empty()) o_.architectures.push_back(default_architecture);
    std::sort(o_.architectures.begin(), o_.architectures.end());
    o_.architectures.erase(std::unique(o_.architectures.begin(), o_.architectures.end()),
                           o_.architectures.end());
    if (o_.inputs.empty()) usage("no input file", "name at least one .cu, .cpp, .c or .o file");
    if ((o_.compile_only || o_.ptx_only || o_.dependencies.only) && !o_.output.empty() && sources() > 1)
      usage("-o with -c, -ptx or -M takes one source file");
    return o_;
  }

 private:
  using Value = std::function<void(const std::string&)>;

  std::size_t sources() const {
    return static_cast<std::size_t>(
        std::count_if(o_.inputs.begin(), o_.inputs.end(),
                      [](const SourceFile& s) { return s.language != Language::link; }));
  }

  void make_tables() {
    make_value_options();
    make_flags();
  }

  void pass_common(const std::string& name) {
    values_[name] = [this, name](const std::string& v) {
      o_.common.push_back(name);
      o_.common.push_back(v);
    };
  }

  void make_value_options() {
    for (const char* n : {"-I", "-D", "-U", "-isystem", "-iquote", "-include"}) pass_common(n);
    alias("--include-path", "-I");
    alias("--define-macro", "-D");
    alias("--undefine-macro", "-U");
    alias("--system-include", "-isystem");
    alias("--pre-include", "-include");
    values_["-L"] = [this](const std::string& v) { o_.link.push_back("-L" + v); };
    values_["-l"] = [this](const std::string& v) { library(v); };
    alias("--library-path", "-L");
    alias("--library", "-l");
    values_["-o"] = [this](const std::string& v) {
      if (!o_.output.empty()) usage("two outputs: -o " + o_.output + " and -o " + v);
      o_.output = v;
    };
    alias("--output-file", "-o");
    values_["-x"] = [this](const std::string& v) { language(v); };
    alias("--x", "-x");
    values_["-std"] = [this](const std::string& v) { o_.common.push_back("-std=" + v); };
    alias("--std", "-std");
    values_["-arch"] = [this](const std::string& v) { architecture(v); };
    alias("--gpu-architecture", "-arch");
    alias("-gpu-architecture", "-arch");
    values_["-code"] = [this](const std::string&) { note("-code has no effect: PTX is what simtlab runs"); };
    alias("--gpu-code", "-code");
    values_["-gencode"] = [this](const std::string& v) { gencode(v); };
    alias("--generate-code", "-gencode");
    values_["-Xcompiler"] = [this](const std::string& v) { host_options(v); };
    alias("--compiler-options", "-Xcompiler");
    values_["-Xlinker"] = [this](const std::string& v) {
      for (const std::string& w : split(v, ',')) o_.link.push_back("-Wl," + w);
    };
    alias("--linker-options", "-Xlinker");
    for (const char* n : {"-ftemplate-depth", "-ftemplate-backtrace-limit"}) {
      const std::string name = n;
      values_[name] = [this, name](const std::string& v) { o_.common.push_back(name + "=" + v); };
      alias("-" + name, name);
    }
    values_["--optimize"] = [this](const std::string& v) { optimisation("-O" + v); };
    ignore_value_options();
    values_["-dopt"] = [this](const std::string& v) {
      if (v != "on") usage("-dopt takes on, not '" + v + "'");
      o_.device_optimised = true;
    };
    alias("--dopt", "-dopt");
    values_["-Xptxas"] = [this](const std::string& v) {
      for (const std::string& w : split(v, ',')) assembler(w);
    };
    alias("--ptxas-options", "-Xptxas");
    values_["-maxrregcount"] = [this](const std::string& v) { registers(v); };
    alias("--maxrregcount", "-maxrregcount");
    values_["-cudart"] = [this](const std::string& v) { runtime_kind(v); };
    alias("--cudart", "-cudart");
    values_["-default-stream"] = [this](const std::string& v) { default_stream(v); };
    alias("--default-stream", "-default-stream");
    values_["-optf"] = [this](const std::string& v) { options_file(v); };
    alias("--options-file", "-optf");
    make_dependency_options();
    make_boolean_options();
  }

  void make_dependency_options() {
    DependencyWish& d = o_.dependencies;
    values_["-MF"] = [&d](const std::string& v) { d.file = v; };
    alias("--dependency-output", "-MF");
    values_["-MT"] = [&d](const std::string& v) { d.target = v; };
    alias("--dependency-target-name", "-MT");
    const auto wish = [this, &d](std::initializer_list<const char*> names, bool only, bool system) {
      for (const char* n : names)
        flags_[n] = [&d, only, system] { d.wanted = true, d.only |= only, d.system = system; };
    };
    wish({"-M", "--generate-dependencies"}, true, true);
    wish({"-MM", "--generate-nonsystem-dependencies"}, true, false);
    wish({"-MD", "--generate-dependencies-with-compile"}, false, true);
    wish({"-MMD", "--generate-nonsystem-dependencies-with-compile"}, false, false);
    flags_["-MP"] = flags_["--generate-dependency-targets"] = [&d] { d.phony = true; };
  }

  // What other tools of nvcc get, or what says where their files go.
  void ignore_value_options() {
    for (const char* n : {"-Xcudafe",
                          "--cudafe-options",
                          "-Xnvlink",
                          "-nvlink-options",
                          "--nvlink-options",
                          "-Xarchive",
                          "--archive-options",
                          "-ccbin",
                          "--compiler-bindir",
                          "-arbin",
                          "--archiver-binary",
                          "-ldir",
                          "--libdevice-directory",
                          "-target-dir",
                          "--target-directory",
                          "-odir",
                          "--output-directory",
                          "-keep-dir",
                          "--keep-dir",
                          "-opt-info",
                          "--optimization-info",
                          "-Ofc",
                          "--Ofast-compile",
                          "-diag-suppress",
                          "--diag-suppress",
                          "-diag-error",
                          "--diag-error",
                          "-diag-warn",
                          "--diag-warn",
                          "-brief-diag",
                          "--brief-diagnostics",
                          "-t",
                          "--threads",
                          "-split-compile",
                          "--split-compile",
                          "-split-compile-extended",
                          "--split-compile-extended",
                          "-fdevice-time-trace",
                          "--fdevice-time-trace",
                          "-time",
                          "--time",
                          "-run-args",
                          "--run-args",
                          "-idp",
                          "--input-drive-prefix",
                          "-ddp",
                          "--dependency-drive-prefix",
                          "-dp",
                          "--drive-prefix",
                          "-cudadevrt",
                          "--cudadevrt",
                          "-e",
                          "--entries",
                          "-Werror",
                          "--Werror",
                          "-jtd",
                          "--jump-table-density",
                          "-frandom-seed",
                          "--frandom-seed",
                          "-static-global-template-stub",
                          "--static-global-template-stub",
                          "-device-entity-has-hidden-visibility",
                          "--device-entity-has-hidden-visibility",
                          "-hls",
                          "--host-linker-script"}) {
      const std::string name = n;
      values_[name] = [this, name](const std::string&) { note(name + " has no effect"); };
    }
    for (const char* n : {"-sanitize", "--sanitize"}) {
      const std::string name = n;
      values_[name] = [name](const std::string&) {
        unsupported(name + " is not offered by simtlab build", "every run checks addresses and barriers");
      };
    }
    for (const char* n : {"-m", "--machine"})
      values_[n] = [](const std::string& v) {
        if (v == "32") unsupported("-m32: 32-bit programs cannot be simulated", "build with -m64");
        if (v != "64") refuse_machine(v);
      };
  }

  void make_boolean_options() {
    for (const std::string dashes : {"-", "--"}) {
      values_[dashes + "ftz"] = [this](const std::string& v) { o_.flush_denormals = is_true("-ftz", v); };
      values_[dashes + "prec-div"] = [this](const std::string& v) {
        o_.precise_division = is_true("-prec-div", v);
      };
      values_[dashes + "prec-sqrt"] = [this](const std::string& v) {
        o_.precise_sqrt = is_true("-prec-sqrt", v);
      };
      values_[dashes + "fmad"] = [this](const std::string& v) { o_.fuse_multiply_add = is_true("-fmad", v); };
    }
    values_["-rdc"] = [this](const std::string& v) { separate(is_true("-rdc", v)); };
    alias("--relocatable-device-code", "-rdc");
  }

  void make_flags() {
    flags_["-c"] = flags_["--compile"] = [this] { o_.compile_only = true; };
    flags_["-ptx"] = flags_["--ptx"] = [this] { o_.ptx_only = true; };
    flags_["-shared"] = flags_["--shared"] = [this] { o_.shared = true; };
    flags_["-g"] = flags_["--debug"] = [this] { o_.debug = true; };
    flags_["-G"] = flags_["--device-debug"] = [this] { o_.device_debug = true; };
    flags_["-w"] = flags_["--disable-warnings"] = [this] { o_.quiet = true; };
    flags_["-lineinfo"] = flags_["--generate-line-info"] = [] {};  // always on
    flags_["-use_fast_math"] = flags_["--use_fast_math"] = [this] {
      o_.fast_math = o_.flush_denormals = true;
      o_.precise_division = o_.precise_sqrt = false;
    };
    for (const char* n : {"-expt-relaxed-constexpr", "--expt-relaxed-constexpr", "-expt-extended-lambda",
                          "--expt-extended-lambda", "-extended-lambda", "--extended-lambda", "-m64"})
      flags_[n] = [] {};  // clang always allows these
    for (const char* n :
         {"-restrict", "--restrict", "-res-usage", "--resource-usage", "-keep", "--keep", "-save-temps", "-v",
          "--verbose", "-Wno-deprecated-gpu-targets", "-allow-unsupported-compiler",
          "--allow-unsupported-compiler", "-src-in-ptx", "--source-in-ptx"}) {
      const std::string name = n;
      flags_[name] = [this, name] { note(name + " has no effect"); };
    }
    for (const char* n : {"-forward-unknown-to-host-compiler", "--forward-unknown-to-host-compiler",
                          "-forward-unknown-to-host-linker", "--forward-unknown-to-host-linker"})
      flags_[n] = [this] { forward_unknown_ = true; };
    flags_["-dc"] = flags_["--device-c"] = flags_["-dlink"] =
        flags_["--device-link"] = [this] { separate(true); };
    flags_["-m32"] = [] { unsupported("-m32: 32-bit programs cannot be simulated", "build with -m64"); };
    for (const char* n : {"-cubin", "--cubin", "-fatbin", "--fatbin", "-lib", "--lib", "-E", "--preprocess",
                          "-run", "--run", "-dryrun", "--dryrun", "-pg", "--profile", "-optix-ir"}) {
      const std::string name = n;
      flags_[name] = [name] {
        unsupported(name + " is not offered by simtlab build",
                    "build an executable, an object file (-c) or PTX (-ptx)");
      };
    }
  }

  void alias(const std::string& name, const std::string& target) { values_[name] = values_.at(target); }

  void option(const std::string& a) {
    if (a.empty()) return;
    if (a[0] != '-' || a == "-") return input(a);
    if (const auto f = flags_.find(a); f != flags_.end()) return f->second();
    if (const auto v = values_.find(a); v != values_.end()) {
      if (at_ + 1 >= arguments_.size()) usage(a + " needs a value");
      return v->second(arguments_[++at_]);
    }
    if (const std::size_t equals = a.find('='); equals != std::string::npos) {
      const auto v = values_.find(a.substr(0, equals));
      if (v != values_.end()) return v->second(a.substr(equals + 1));
    }
    if (a.rfind("-O", 0) == 0 && a.size() <= 3) return optimisation(a);
    for (const char* joined : {"-I", "-D", "-U", "-L", "-l", "-o", "-x", "-isystem", "-t"})
      if (a.rfind(joined, 0) == 0) return values_.at(joined)(a.substr(std::string(joined).size()));
    if (a.rfind("-W", 0) == 0) {
      o_.host.push_back(a);
      return;
    }
    if (forward_unknown_) {
      o_.host.push_back(a);
      return;
    }
    unknown(a);
  }

  [[noreturn]] void unknown(const std::string& a) {
    std::vector<std::string> names;
    for (const auto& [n, f] : flags_) names.push_back(n);
    for (const auto& [n, f] : values_) names.push_back(n);
    const std::string near = nearest_name(a.substr(0, a.find('=')), names);
    usage("unknown option " + a,
          near.empty() ? "options of the host compiler go after -Xcompiler" : "did you mean " + near + "?");
  }

  void input(const std::string& path) {
    const std::string ext = std::filesystem::path(path).extension().string();
    Language l = Language::link;
    if (forced_ != nullptr)
      l = *forced_;
    else if (ext == ".cu")
      l = Language::cuda;
    else if (ext == ".cpp" || ext == ".cc" || ext == ".cxx" || ext == ".C" || ext == ".c++")
      l = Language::cxx;
    else if (ext == ".c")
      l = Language::c;
    else if (ext == ".o" || ext == ".a" || ext == ".so" || path.find(".so.") != std::string::npos)
      l = Language::link;
    else
      usage("do not know what to do with " + path,
            "give it an extension of nvcc's (.cu .cpp .c .o .a .so) or use -x cu");
    std::error_code ec;
    if (!std::filesystem::exists(path, ec))
      throw Error(ExitCode::bad_input, "file-missing", "there is no file " + path);
    if (std::filesystem::is_directory(path, ec))
      throw Error(ExitCode::bad_input, "file-directory", path + " is a folder, not a source file");
    o_.inputs.push_back({path, l});
    if (l == Language::link) o_.link.push_back(path);
  }

  void language(const std::string& v) {
    static const std::map<std::string, Language> known = {
        {"cu", Language::cuda}, {"cuda", Language::cuda}, {"c++", Language::cxx}, {"c", Language::c}};
    const auto l = known.find(v);
    if (l == known.end()) usage("-x takes cu, c++ or c, not '" + v + "'");
    forced_ = &l->second;
  }

  void library(const std::string& v) {
    // Ours, always linked; device-side launches, for which cudadevrt is, are refused where a kernel makes
    // one.
    if (v == "cudart" || v == "cudart_static" || v == "cuda" || v == "cudadevrt") return;
    for (const char* other : {"cublas", "cufft", "curand", "cusparse", "cusolver", "nvrtc", "cudnn", "npp"})
      if (v.rfind(other, 0) == 0)
        unsupported("-l" + v + ": simtlab has no replacement for this CUDA library",
                    "only the CUDA runtime is offered");
    o_.link.push_back("-l" + v);
  }

  void optimisation(const std::string& a) {
    if (a.size() != 2 && a != "-Os" && (a.size() != 3 || a[2] < '0' || a[2] > '9'))
      usage("unknown optimisation level " + a);
    o_.optimisation = a.size() == 2 ? "-O1" : a[2] > '3' && a[2] <= '9' ? "-O3" : a;
  }

  // An option of ptxas.
  void assembler(const std::string& word) {
    const std::size_t equals = word.find('=');
    const std::string name = word.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : word.substr(equals + 1);
    std::string level;
    if (name == "--opt-level" || name == "-opt-level" || name == "-O")
      level = value;
    else if (name.size() == 3 && name.starts_with("-O"))
      level = name.substr(2);
    else if (name == "-maxrregcount" || name == "--maxrregcount")
      return registers(value);
    else
      return note("-Xptxas " + word + " has no effect");
    if (level.size() != 1 || level[0] < '0' || level[0] > '4')
      usage("-Xptxas " + word + ": a level from 0 to 4 is wanted", "for example -Xptxas -O1");
    o_.assembler_level = level[0] - '0';
  }

  void architecture(const std::string& v) {
    if (v == "native" || v == "all" || v == "all-major") return note("-arch=" + v + " means sm_70 here");
    std::string number;
    for (const char* prefix : {"sm_", "compute_", "lto_"})
      if (v.rfind(prefix, 0) == 0) number = v.substr(std::string(prefix).size());
    if (number.empty() || number.find_first_not_of("0123456789af") != std::string::npos)
      usage("-arch takes sm_NN or compute_NN, not '" + v + "'");
    if (number.size() >= 3 && number != "90a" &&
        number.find_first_not_of("0123456789") == std::string::npos) {
      note("-arch=" + v + ": clang 19 knows no architecture above sm_90, which is used instead");
      number = "90";
    }
    if (std::find(kArchitectures.begin(), kArchitectures.end(), number) == kArchitectures.end())
      usage("there is no architecture " + v, "for example -arch=sm_80");
    o_.architectures.push_back("sm_" + number);
  }

  // arch=compute_70,code=sm_70 or arch=compute_70,code=[sm_70,compute_70]: the PTX architecture is the first
  // one.
  void gencode(const std::string& v) {
    for (const std::string& part : split(v, ','))
      if (part.rfind("arch=", 0) == 0) return architecture(part.substr(5));
    usage("-gencode takes arch=compute_NN,code=..., not '" + v + "'");
  }

  void registers(const std::string& v) {
    int n = 0;
    const bool hexadecimal = v.starts_with("0x") || v.starts_with("0X");
    const char *const begin = v.data() + (hexadecimal ? 2 : 0), *const behind = v.data() + v.size();
    const auto [end, error] = std::from_chars(begin, behind, n, hexadecimal ? 16 : 10);
    if (error != std::errc() || end != behind || begin == behind)
      usage("-maxrregcount takes a number from 0 to 255, not '" + v + "'");
    if (n < 0 || n > most_registers) {
      o_.max_registers = 0;
      o_.warnings.push_back("-maxrregcount=" + v + " is ignored, as by nvcc: it is no number from 0 to 255");
      return;
    }
    constexpr int fewest = 24;  // as limit_registers has it
    if (n > 0 && n < fewest)
      note("-maxrregcount=" + v + ": the assembler leaves a kernel at least 24 registers");
    o_.max_registers = n;
  }

  void runtime_kind(const std::string& v) {
    if (v != "static" && v != "shared" && v != "none")
      usage("-cudart takes static, shared or none, not '" + v + "'");
    if (v == "static") note("-cudart static: programs always use simtlab's shared libcudart");
    if (v == "none")
      unsupported("-cudart none: a simulated program needs simtlab's runtime", "leave the option out");
  }

  void default_stream(const std::string& v) {
    if (v != "legacy" && v != "null" && v != "per-thread")
      usage("-default-stream takes legacy, null or per-thread, not '" + v + "'");
    if (v != "per-thread") return;
    o_.common.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    note("-default-stream per-thread: the default stream is shared by all threads here (D-RUNTIME-2)");
  }

  // Options separated by white space, with quotation marks as a shell has them, put in at this place.
  void options_file(const std::string& path) {
    if (++option_files_ > kMostOptionFiles) usage("option files name each other without end, last " + path);
    std::vector<std::string> more;
    for (const std::string& file : split(path, ',')) {
      for (const std::string& word : split_words(read_file(file, kLargestOptionFile, "options file")))
        more.push_back(word);
    }
    arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(at_) + 1, more.begin(), more.end());
  }

  void separate(bool on) {
    if (on)
      unsupported(
          "relocatable device code (-rdc=true, -dc) is not supported: device code of several files cannot be "
          "linked",
          "put the device code that calls each other into one source file");
  }

  void host_options(const std::string& v) {
    for (const std::string& w : split(v, ',')) {
      if (w == "-fopenmp")
        o_.openmp = true;
      else
        o_.host.push_back(w);
    }
  }

  void note(const std::string& text) {
    if (std::find(o_.notes.begin(), o_.notes.end(), text) == o_.notes.end()) o_.notes.push_back(text);
  }

  std::vector<std::string> arguments_;  // an options file adds to them
  std::size_t at_ = 0;
  bool forward_unknown_ = false;
  unsigned option_files_ = 0;
  NvccOptions o_;
  const Language* forced_ = nullptr;
  std::map<std::string, Value> values_;
  std::map<std::string, std::function<void()>> flags_;
};

}  // namespace

NvccOptions parse_nvcc_options(const std::vector<std::string>& arguments,
                               const std::string& default_architecture) {
  return Parser(arguments).run(default_architecture);
}

namespace {

const Parser& names() {
  static const Parser parser({});
  return parser;
}

}  // namespace

std::string take_machine(std::vector<std::string>& arguments) {
  std::string file;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string word = arguments[i], name = word.substr(0, word.find('='));
    const bool apart = name == word;
    if (name != "--machine" && name != "-m") {
      if (apart && names().takes_value(word)) ++i;
      continue;
    }
    if (apart && i + 1 == arguments.size()) usage(word + " needs a value", "64, or a source file");
    const std::string value = apart ? arguments[i + 1] : word.substr(name.size() + 1);
    const auto from = arguments.begin() + static_cast<std::ptrdiff_t>(i);
    if (value == "64" || value == "32") {
      if (apart) ++i;
      continue;
    }
    std::error_code ec;
    if (!std::filesystem::is_regular_file(value, ec)) refuse_machine(value);
    if (!file.empty()) usage("--machine " + file + " and --machine " + value + ": one file at a time");
    file = value;
    arguments.erase(from, from + (apart ? 2 : 1));
    --i;
  }
  return file;
}

std::vector<std::string> with_values_joined(const std::vector<std::string>& arguments,
                                            const std::vector<std::string>& others) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& a = arguments[i];
    const bool joins = i + 1 < arguments.size() && names().takes_value(a) &&
                       std::find(others.begin(), others.end(), a) == others.end();
    out.push_back(joins ? a + "=" + arguments[++i] : a);
  }
  return out;
}

bool is_nvcc_option(const std::string& word) { return names().knows(word.substr(0, word.find('='))); }

std::string architecture_for(int cc_major, int cc_minor) {
  constexpr int lowest = 70;
  const int wanted = cc_major * 10 + cc_minor;
  int best = lowest;
  for (const std::string& known : kArchitectures)
    if (known.back() != 'a' && std::stoi(known) <= wanted) best = std::max(best, std::stoi(known));
  return "sm_" + std::to_string(best);
}

}  // namespace simtlab::compile
