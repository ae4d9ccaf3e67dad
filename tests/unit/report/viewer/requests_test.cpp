// Requests without sockets: who is let in, what is refused, and that no address, however odd, does harm.
#include "report/viewer/requests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/error.h"
#include "base/rng.h"
#include "report/viewer/live.h"
#include "result/json.h"

namespace simtlab::report::viewer {
namespace {

using testing::HasSubstr;
namespace fs = std::filesystem;

class Requests : public testing::Test {
 protected:
  Requests()
      : folder_(fs::path(testing::TempDir()) /
                ("view_" + std::string(testing::UnitTest::GetInstance()->current_test_info()->name()))) {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    options_.secret = "0123456789abcdef";
    options_.page = [](const result::Result& r) { return "<header></header>page of " + r.manifest.device; };
    options_.study = [](const fs::path&) -> std::string {
      throw Error(ExitCode::bad_input, "sweep-database", "no study");
    };
  }
  ~Requests() override { fs::remove_all(folder_); }

  void add(const std::string& name, double time, const std::string& device) {
    result::Result r;
    r.manifest.device = device;
    r.manifest.command_line = "simtlab run <b>";
    r.total.set("gpu.time", time);
    std::ofstream(folder_ / name) << result::to_json(r);
  }
  void text(const std::string& name, const std::string& content) { std::ofstream(folder_ / name) << content; }
  Answer get(Collection& c, const std::string& path) {
    return answer(c, options_, "/" + options_.secret + path);
  }
  static std::string id_of(const Collection& c, const std::string& name) {
    for (const Entry* e : c.entries())
      if (e->path.filename() == name) return e->id;
    return "none";
  }

  fs::path folder_;
  ServerOptions options_;
};

TEST_F(Requests, only_the_secret_opens) {
  add("a.json", 10, "v100");
  Collection c({folder_});
  EXPECT_EQ(get(c, "/").status, 200);
  EXPECT_EQ(get(c, "").status, 301);
  EXPECT_EQ(get(c, "").location, "/0123456789abcdef/");
  for (const char* path : {"", "/", "//", "/0123456789abcde/", "/0123456789abcdef0/", "/0123456789abcdeF/",
                           "/?0123456789abcdef/", "0123", "/%30123456789abcdef/"})
    EXPECT_EQ(answer(c, options_, path).status, 404) << path;
}

TEST_F(Requests, rows_are_sorted_and_foreign_text_is_text) {
  add("a.json", 30, "a<script>");
  add("b.json", 10, "v100");
  add("c.json", 20, "v100");
  Collection c({folder_});
  const auto order = [&](const std::string& wish) {
    const std::string page = get(c, "/?sort=" + wish).body;
    std::string out;
    for (std::size_t at = page.find("class=\"path\""); at != std::string::npos;
         at = page.find("class=\"path\"", at + 1))
      out += page.substr(page.find(".json</a>", at) - 1, 1);
    return out;
  };
  EXPECT_EQ(order(""), "abc");
  EXPECT_EQ(order("-path"), "cba");
  EXPECT_EQ(order("time"), "bca");
  EXPECT_EQ(order("-gpu.time"), "acb");
  EXPECT_EQ(order("no.such.metric"), "abc");
  const std::string page = get(c, "/").body;
  EXPECT_THAT(page, HasSubstr("a&lt;script&gt;"));
  EXPECT_THAT(page, Not(HasSubstr("a<script>")));
  EXPECT_EQ(get(c, "/?metric=no.such.metric").status, 400);
}

TEST_F(Requests, results_side_by_side) {
  add("a.json", 30, "gtx480");
  add("b.json", 15, "v100");
  Collection c({folder_});
  const std::string a = id_of(c, "a.json"), b = id_of(c, "b.json");
  const Answer both = get(c, "/compare?id=" + a + "&id=" + b);
  EXPECT_EQ(both.status, 200);
  EXPECT_THAT(both.body, HasSubstr("-50.0 %"));
  EXPECT_EQ(get(c, "/compare?id=" + a).status, 400);
  EXPECT_EQ(get(c, "/compare?id=" + a + "&id=x").status, 404);
  EXPECT_EQ(get(c, "/result/" + a).body,
            "<header><p><a href=\"/0123456789abcdef/\">All results</a></p></header>page of gtx480");
  fs::remove(folder_ / "b.json");
  EXPECT_EQ(get(c, "/result/" + b).status, 500);  // it went a moment ago
  get(c, "/");
  EXPECT_EQ(get(c, "/result/" + b).status, 404);
}

TEST_F(Requests, a_file_that_became_something_else) {
  add("a.json", 30, "gtx480");
  Collection c({folder_ / "a.json"});
  const std::string a = id_of(c, "a.json");
  const std::uint64_t before = c.version();
  c.refresh();
  EXPECT_EQ(c.version(), before);
  text("a.json", "{ nonsense and more of it");
  EXPECT_EQ(get(c, "/result/" + a).status, 500);
  c.refresh();
  EXPECT_NE(c.version(), before);
  EXPECT_EQ(c.entries().at(0)->kind, Kind::unreadable);
  EXPECT_THAT(get(c, "/").body, HasSubstr("unreadable"));
}

TEST_F(Requests, rows_of_a_live_file_come_once) {
  text("r.live",
       "{\"simtlab_live\":1,\"command\":\"c\",\"device\":\"d\",\"mode\":\"timing\",\"process\":0}\n"
       "{\"seconds\":0.5,\"kernel\":\"k\",\"launches\":0,\"blocks\":1,\"of_blocks\":4,\"cycles\":10,"
       "\"instructions\":20}\n"
       "{\"seconds\":1.5,\"kernel\":\"k\",\"launches\":0,\"blocks\":2,\"of_blocks\":4,\"cycles\":20,"
       "\"instructions\":40}\n");
  Collection c({folder_});
  const std::string id = id_of(c, "r.live");
  EXPECT_EQ(get(c, "/live/" + id).status, 200);
  EXPECT_EQ(
      get(c, "/live/" + id + "/rows?from=1").body,
      R"({"from":1,"state":"running","over":false,"seconds":1.5,"rows":[{"seconds":1.5,"kernel":"k","launches":0,"blocks":2,"of_blocks":4,"cycles":20,"instructions":40}]})");
  EXPECT_THAT(get(c, "/live/" + id + "/rows?from=2").body, HasSubstr("\"rows\":[]"));
  EXPECT_THAT(get(c, "/live/" + id + "/rows?from=99").body, HasSubstr("\"from\":0"));  // it began anew
  for (const char* from : {"", "-1", "x", "1x", "99999999999999999999999"})
    EXPECT_EQ(get(c, "/live/" + id + "/rows?from=" + from).status, 400) << from;
}

TEST_F(Requests, odd_addresses_are_answered) {
  add("a.json", 30, "gtx480");
  text("r.live",
       "{\"simtlab_live\":1,\"command\":\"c\",\"device\":\"d\",\"mode\":\"timing\",\"process\":0}\n");
  Collection c({folder_});
  const std::string pieces[] = {"/",
                                "?",
                                "&",
                                "=",
                                "%",
                                "%2",
                                "%00",
                                "%ff",
                                "id",
                                "compare",
                                "result",
                                "live",
                                "rows",
                                "from",
                                "..",
                                "sort",
                                "metric",
                                "gpu.time",
                                "-",
                                id_of(c, "a.json"),
                                id_of(c, "r.live"),
                                std::string(500, 'x')};
  Rng random(7);
  for (int i = 0; i < 1000; ++i) {
    std::string path = "/";
    for (std::uint64_t n = random.below(8); n > 0; --n) path += pieces[random.below(std::size(pieces))];
    const Answer a = get(c, path);
    EXPECT_TRUE(a.status == 200 || a.status == 400 || a.status == 404) << path << " " << a.status;
  }
}

TEST(Query, is_decoded) {
  const auto q = query_of("a=1&b=%41+%2&a=2&&=3&c");
  EXPECT_EQ(q.count("a"), 2u);
  EXPECT_EQ(q.find("b")->second, "A %2");
  EXPECT_EQ(q.find("")->second, "3");
  EXPECT_EQ(q.find("c")->second, "");
}

TEST(LiveFile, faults_have_a_line) {
  const std::string head =
      "{\"simtlab_live\":1,\"command\":\"c\",\"device\":\"d\",\"mode\":\"timing\",\"process\":0}\n";
  const std::string row =
      "{\"seconds\":1.0,\"kernel\":\"k\",\"launches\":0,\"blocks\":1,\"of_blocks\":4,\"cycles\":10,"
      "\"instructions\":20}\n";
  const auto fault = [](const std::string& text) -> std::string {
    try {
      parse_live(text, "f.live");
    } catch (const Error& e) { return e.format(); }
    return "none";
  };
  EXPECT_EQ(fault(head + row + row), "none");
  EXPECT_EQ(fault(head + row + "{\"secon"), "none");  // not whole yet
  EXPECT_THAT(fault(""), HasSubstr("no line is there yet"));
  EXPECT_THAT(fault("[]\n"), HasSubstr("f.live:1:1"));
  EXPECT_THAT(fault(head + "{\"seconds\":\"x\"}\n"), HasSubstr("f.live:2:1"));
  EXPECT_THAT(fault(head + row +
                    "{\"seconds\":0.5,\"kernel\":\"k\",\"launches\":0,\"blocks\":1,\"of_blocks\":4,"
                    "\"cycles\":10,\"instructions\":20}\n"),
              HasSubstr("before the line above"));
  EXPECT_THAT(fault(head + "{\"seconds\":1.0,\"end\":\"done\"}\n" + row), HasSubstr("follows the end"));
  EXPECT_EQ(parse_live(head + row + "{\"seconds\":2.0,\"end\":\"done\"}\n", "f").end, "done");
}

}  // namespace
}  // namespace simtlab::report::viewer
