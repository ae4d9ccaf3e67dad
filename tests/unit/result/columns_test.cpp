// Columns beside a result: what is written is read again, and no bytes do harm.
#include "result/columns.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "result/json.h"

namespace simtlab::result {
namespace {

namespace fs = std::filesystem;

std::string columns_sample() {
  ColumnWriter writer;
  writer.add("a.real", std::vector<double>{0.5, -1e300, 0.1});
  writer.add("a.count", std::vector<std::uint64_t>{0, 7, ~std::uint64_t{0}});
  writer.add("a.signed", std::vector<std::int64_t>{-3, 0, 9});
  writer.add("a.flag", Flags{1, 0, 1});
  writer.add("a.text", std::vector<std::string>{"", "f32", "a\nlonger text"});
  writer.add("b", std::vector<double>{});
  return writer.finish();
}

TEST(Columns, HoldEveryTypeExactly) {
  ColumnReader reader(columns_sample(), "r.npz");
  EXPECT_EQ(reader.read("a.real", 3), Column(std::vector<double>{0.5, -1e300, 0.1}));
  EXPECT_EQ(reader.read("a.count", 3), Column(std::vector<std::uint64_t>{0, 7, ~std::uint64_t{0}}));
  EXPECT_EQ(reader.read("a.signed", 3), Column(std::vector<std::int64_t>{-3, 0, 9}));
  EXPECT_EQ(reader.read("a.flag", 3), Column(Flags{1, 0, 1}));
  EXPECT_EQ(reader.read("a.text", 3), Column(std::vector<std::string>{"", "f32", "a\nlonger text"}));
  EXPECT_EQ(reader.read("b", 0), Column(std::vector<double>{}));
  EXPECT_TRUE(reader.has("a.real"));
  EXPECT_FALSE(reader.has("a"));
}

TEST(Columns, AreTheSameBytesForTheSameValues) { EXPECT_EQ(columns_sample(), columns_sample()); }

TEST(Columns, OfAnotherLengthOrNameAreRefused) {
  ColumnReader reader(columns_sample(), "r.npz");
  for (const std::uint64_t rows :
       {std::uint64_t{0}, std::uint64_t{2}, std::uint64_t{4}, most_column_rows, ~std::uint64_t{0}})
    EXPECT_THROW(reader.read("a.real", rows), Error) << rows;
  EXPECT_THROW(reader.read("c", 3), Error);
}

// Every byte changed and every length cut: an error or the same values, never anything else.
TEST(Columns, DamagedBytesAreAnErrorOrHarmless) {
  const std::string good = columns_sample();
  const auto try_it = [](const std::string& bytes) {
    try {
      ColumnReader reader(bytes, "r.npz");
      for (const char* name : {"a.real", "a.count", "a.signed", "a.flag", "a.text"})
        static_cast<void>(reader.read(name, 3));
    } catch (const Error& e) { EXPECT_EQ(e.id(), "result-columns"); }
  };
  for (std::size_t i = 0; i < good.size(); ++i) {
    for (const int change : {0x01, 0x80, 0xff}) {
      std::string bad = good;
      bad[i] = static_cast<char>(bad[i] ^ change);
      try_it(bad);
    }
    try_it(good.substr(0, i));
  }
}

Result with_rows(std::size_t rows) {
  Result out;
  KernelResult& k = out.kernels.emplace_back();
  k.name = "kernel";
  k.series = {100, {"end", "instructions.warp"}, {}};
  for (std::size_t i = 0; i < rows; ++i)
    k.series.rows.push_back({static_cast<double>(100 * (i + 1)), static_cast<double>(i % 7)});
  Table table{"reuse", {}};
  const TableDeclaration& declared = *find_table("reuse");
  for (std::size_t i = 0; i < rows; ++i) {
    std::vector<Cell>& row = table.rows.emplace_back();
    for (const ColumnDeclaration& c : declared.columns) {
      if (c.unit.empty())
        row.emplace_back("text");
      else if (i % 3 == 0)
        row.emplace_back();
      else
        row.emplace_back(std::uint64_t{i});
    }
  }
  k.tables.push_back(table);
  return out;
}

class ResultOnDisk : public ::testing::Test {
 protected:
  ResultOnDisk() : folder_(fs::temp_directory_path() / ("simtlab-result-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~ResultOnDisk() override { fs::remove_all(folder_); }
  std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& entry : fs::directory_iterator(folder_)) out.push_back(entry.path().filename().string());
    std::ranges::sort(out);
    return out;
  }
  fs::path folder_;
};

TEST_F(ResultOnDisk, WithFewRowsIsOneFile) {
  save_result_file(folder_ / "r.json", with_rows(10));
  EXPECT_EQ(names(), std::vector<std::string>{"r.json"});
  EXPECT_EQ(read_result_file(folder_ / "r.json").kernels[0].series, with_rows(10).kernels[0].series);
}

TEST_F(ResultOnDisk, WithManyRowsHasThemBesideAndReadsBackTheSame) {
  const Result result = with_rows(5000);
  save_result_file(folder_ / "r.json", result);
  ASSERT_EQ(names().size(), 2u);
  EXPECT_TRUE(names()[0].starts_with("r.json.") || names()[1].starts_with("r.json."));
  EXPECT_LT(fs::file_size(folder_ / "r.json"), 4000u);
  EXPECT_EQ(to_json(read_result_file(folder_ / "r.json")), to_json(result));
  // On standard output it is one document
  EXPECT_EQ(to_json(result_from_json(to_json(result), "inside.json")), to_json(result));
}

// Names that a file of somebody else may have: such a series stays in the JSON.
TEST_F(ResultOnDisk, WithStrangeColumnsIsReadBackTheSame) {
  for (const std::vector<std::string>& columns : {std::vector<std::string>{"end", "end"},
                                                  {"end", std::string(5000, 'x')},
                                                  {"end", std::string("a\0b", 3)},
                                                  {"end", "../a\nb"}}) {
    Result result = with_rows(5000);
    result.kernels[0].series.columns = columns;
    save_result_file(folder_ / "r.json", result);
    EXPECT_EQ(to_json(read_result_file(folder_ / "r.json")), to_json(result));
  }
}

TEST_F(ResultOnDisk, ReplacedTakesWhatStoodBesideItAlong) {
  save_result_file(folder_ / "r.json", with_rows(5000));
  save_result_file(folder_ / "r.json", with_rows(6000));
  EXPECT_EQ(names().size(), 2u);
  EXPECT_EQ(read_result_file(folder_ / "r.json").kernels[0].series.rows.size(), 6000u);
  save_result_file(folder_ / "r.json", with_rows(1));
  EXPECT_EQ(names(), std::vector<std::string>{"r.json"});
}

TEST_F(ResultOnDisk, OfSeveralProcessesKeepTheirOwn) {
  const std::string path = (folder_ / "r.json").string();
  EXPECT_EQ(write_result_file(path, with_rows(5000)), path);
  EXPECT_EQ(write_result_file(path, with_rows(6000)), path + ".1");
  EXPECT_EQ(read_result_file(path).kernels[0].series.rows.size(), 5000u);
  EXPECT_EQ(read_result_file(path + ".1").kernels[0].series.rows.size(), 6000u);
  remove_result_file(path);
  remove_result_file(path + ".1");
  EXPECT_TRUE(names().empty());
}

TEST_F(ResultOnDisk, WithoutItsColumnsOrWithOthersSaysSo) {
  save_result_file(folder_ / "r.json", with_rows(5000));
  std::string columns;
  for (const std::string& name : names())
    if (name != "r.json") columns = name;
  const auto says = [&](const std::string& text) {
    try {
      static_cast<void>(read_result_file(folder_ / "r.json"));
      ADD_FAILURE() << "read without a word";
    } catch (const Error& e) {
      EXPECT_EQ(e.id(), "result-columns");
      EXPECT_NE(e.format().find(text), std::string::npos) << e.format();
    }
  };
  std::ofstream(folder_ / columns, std::ios::app) << "x";
  says("is not what this result was written with");
  fs::remove(folder_ / columns);
  says("put the two files into one folder");
  EXPECT_THROW(result_from_json(read_file(folder_ / "r.json", max_json_bytes), "stdin"), Error);
}

TEST_F(ResultOnDisk, NeverLooksOutsideItsFolder) {
  save_result_file(folder_ / "r.json", with_rows(5000));
  const std::string good = read_file(folder_ / "r.json", max_json_bytes);
  const std::size_t at = good.find("{\"file\": \"") + 10, end = good.find('"', at);
  for (const char* name : {"../r.npz", "/etc/passwd", "..", ".", "", "a\\u0000b"}) {
    std::string bad = good;
    bad.replace(at, end - at, name);
    bool asked = false;
    EXPECT_THROW(result_from_json(bad, "r.json",
                                  [&](const std::string&) {
                                    asked = true;
                                    return std::string();
                                  }),
                 Error)
        << name;
    EXPECT_FALSE(asked) << name;
  }
}

TEST(Series, ThinnedAddsCountsAndWeighsTheRest) {
  const Series s{10,
                 {"end", "instructions.warp", "ipc", "l1.read.accesses", "l1.hit_rate"},
                 {{10, 5, 1, 2, 0.5}, {30, 7, 4, 6, 1}, {40, 1, 2, 0, 0}}};
  const Series t = thinned(s, 2);
  EXPECT_EQ(t.interval, 20u);
  ASSERT_EQ(t.rows.size(), 2u);
  EXPECT_EQ(t.rows[0], (std::vector<double>{30, 12, 3, 8, 0.875}));  // ipc: (10 * 1 + 20 * 4) / 30
  EXPECT_EQ(t.rows[1], (std::vector<double>{40, 1, 2, 0, 0}));
  EXPECT_EQ(thinned(s, 3), s);
}

}  // namespace
}  // namespace simtlab::result
