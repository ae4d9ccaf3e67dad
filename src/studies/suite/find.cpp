#include "studies/suite/find.h"

#include <algorithm>
#include <cctype>
#include <map>

#include "base/elf.h"
#include "base/error.h"
#include "base/files.h"

namespace simtlab::studies {
namespace {

namespace fs = std::filesystem;
using Kind = Project::Kind;

constexpr std::uint64_t most_text = std::uint64_t{8} << 20;

bool contains_any(const std::string& text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* w) { return text.find(w) != std::string::npos; });
}

// Whether `word (` stands in the text; word: in lower case. Regular expressions of the standard library would
// descend recursively over a megabyte of blanks.
bool calls(const std::string& text, const std::string& word, bool any_case) {
  const auto same = [&](char a, char b) {
    return a == b || (any_case && std::tolower(static_cast<unsigned char>(a)) == b);
  };
  const auto in_name = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
  auto at = text.begin();
  for (;;) {
    at = std::search(at, text.end(), word.begin(), word.end(), same);
    if (at == text.end()) return false;
    const bool begins = at == text.begin() || !in_name(*(at - 1));
    at += static_cast<std::ptrdiff_t>(word.size());
    const auto next = std::find_if(at, text.end(), [](unsigned char c) { return std::isspace(c) == 0; });
    if (begins && next != text.end() && *next == '(') return true;
  }
}

class Finder {
 public:
  explicit Finder(const Tree& tree) : tree_(tree) {
    folders_[{}];
    for (const fs::path& f : tree.folders) folders_[f], children_[f.parent_path()].push_back(f);
    for (const TreeFile& f : tree.files)
      if (!f.link) folders_[f.path.parent_path()].push_back(f.path.filename().string());
  }

  Projects run() {
    walk({});
    std::ranges::sort(out_.all, {}, &Project::name);
    return std::move(out_);
  }

 private:
  std::string text_of(const fs::path& file) const {
    try {
      return read_file(tree_.root / file, most_text, "source");
    } catch (const Error&) { return {}; }
  }
  bool has(const fs::path& folder, const std::string& name) const {
    return std::ranges::find(folders_.at(folder), name) != folders_.at(folder).end();
  }
  bool has_sources(const fs::path& folder, std::initializer_list<const char*> extensions) const {
    return std::ranges::any_of(folders_.at(folder), [&](const std::string& name) {
      return std::ranges::find(extensions, fs::path(name).extension()) != extensions.end();
    });
  }
  bool has_kernels_below(const fs::path& folder) const {
    return std::ranges::any_of(tree_.files, [&](const TreeFile& f) {
      return is_below(f.path, folder) && (f.path.extension() == ".cu" || f.path.extension() == ".cl");
    });
  }

  bool is_cmake(const fs::path& folder) const {
    if (!has(folder, "CMakeLists.txt")) return false;
    const std::string text = text_of(folder / "CMakeLists.txt");
    if (!calls(text, "project", true)) return false;
    return has_kernels_below(folder) || contains_any(text, {"CUDA", "OpenCL"});
  }
  // The makefile's name as make looks for it, if it has to do with a GPU.
  std::string makefile_of(const fs::path& folder, std::string& text) const {
    for (const char* name : {"GNUmakefile", "makefile", "Makefile"}) {
      if (!has(folder, name)) continue;
      text = text_of(folder / name);
      // One that includes others may have its rules from there.
      const bool rules_elsewhere = has_sources(folder, {".cu", ".cl"}) && contains_any(text, {"include "});
      return is_about_gpu(text) || rules_elsewhere || calls_others(text) ? name : "";
    }
    return {};
  }
  static bool is_about_gpu(const std::string& text) {
    return contains_any(text, {"nvcc", "NVCC", "cuda", "CUDA", ".cu", "OpenCL"});
  }
  static bool calls_others(const std::string& text) {
    return contains_any(text, {"$(MAKE)", "${MAKE}", "make -C"});
  }

  void walk(const fs::path& folder) {
    if (is_cmake(folder)) return add(Kind::cmake, folder, "CMakeLists.txt");
    std::string text;
    if (const std::string makefile = makefile_of(folder, text); !makefile.empty()) {
      const bool sources = has_sources(folder, {".cu", ".cl", ".c", ".cc", ".cpp", ".cxx"});
      const std::size_t before = out_.all.size();
      if (!sources && calls_others(text)) walk_below(folder);
      if (out_.all.size() != before) return;  // they are projects of their own
      if (is_about_gpu(text) || has_sources(folder, {".cu", ".cl"})) return add(Kind::make, folder, makefile);
      if (!sources) return;  // it only calls others, which have been looked at
    }
    singles(folder);
    walk_below(folder);
  }
  void walk_below(const fs::path& folder) {
    if (const auto found = children_.find(folder); found != children_.end())
      for (const fs::path& below : found->second) walk(below);
  }
  void singles(const fs::path& folder) {
    for (const std::string& name : folders_.at(folder)) {
      const std::string extension = fs::path(name).extension().string();
      if (extension == ".cl") add(Kind::opencl, folder, name);
      if (extension != ".cu") {
        program(folder, name);
        continue;
      }
      if (calls(text_of(folder / name), "main", false))
        add(Kind::cuda, folder, name);
      else
        out_.skipped.push_back({(folder / name).string(), "has no main(): no program of its own"});
    }
  }
  // What was built from a source beside it stands in the table as that source.
  void program(const fs::path& folder, const std::string& name) {
    if (has(folder, name + ".cu") || !is_program(tree_.root / folder / name)) return;
    if (uses_gpu(tree_.root / folder / name)) add(Kind::program, folder, name);
  }
  void add(Kind kind, const fs::path& folder, const std::string& file) {
    std::string name = is_one_file(kind) ? (folder / file).string() : folder.string();
    if (name.empty()) name = tree_.root.filename().string();
    out_.all.push_back({kind, folder, file, name, {}, {}, {}, 0});
  }

  const Tree& tree_;
  std::map<fs::path, std::vector<std::string>> folders_;  // names of the files in each
  std::map<fs::path, std::vector<fs::path>> children_;
  Projects out_;
};

}  // namespace

const char* name_of(Kind kind) {
  switch (kind) {
    case Kind::make: return "make";
    case Kind::cmake: return "cmake";
    case Kind::cuda: return "cuda";
    case Kind::opencl: return "opencl";
    case Kind::program: return "program";
    case Kind::listed: return "listed";
  }
  return "";
}

bool is_one_file(Kind kind) { return kind == Kind::cuda || kind == Kind::opencl || kind == Kind::program; }

bool is_program(const fs::path& file) {
  std::error_code code;
  if (!fs::is_regular_file(fs::symlink_status(file, code)) ||
      file.filename().string().find(".so") != std::string::npos ||
      (fs::status(file, code).permissions() & fs::perms::owner_exec) == fs::perms::none)
    return false;
  const ElfFacts facts = inspect_elf(file);
  return facts.is_elf && facts.is_x86_64 && facts.has_interpreter;
}

bool uses_gpu(const fs::path& program) {
  const ElfFacts facts = inspect_elf(program);
  return facts.has_fatbin || facts.needs("libcudart.so") || facts.needs("libcuda.so") ||
         facts.needs("libOpenCL.so");
}

Projects find_projects(const Tree& tree) { return Finder(tree).run(); }

bool owns(const Project& project, const fs::path& file) {
  if (is_one_file(project.kind)) return file == project.folder / project.file;
  return is_below(file, project.folder);
}

}  // namespace simtlab::studies
