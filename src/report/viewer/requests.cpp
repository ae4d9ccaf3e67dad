#include "report/viewer/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/files.h"
#include "report/viewer/pages.h"
#include "result/json.h"

namespace simtlab::report::viewer {
namespace {

constexpr std::size_t most_compared = 16;

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string decoded(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool pair =
        text[i] == '%' && i + 2 < text.size() && digit(text[i + 1]) >= 0 && digit(text[i + 2]) >= 0;
    if (pair) {
      out += static_cast<char>(digit(text[i + 1]) * 16 + digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i] == '+' ? ' ' : text[i];
    }
  }
  return out;
}

// As long for a wrong one as for the right one.
bool is_secret(std::string_view given, std::string_view secret) {
  unsigned different = given.size() == secret.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i)
    different |= static_cast<unsigned>(given[i] ^ secret[i % secret.size()]);
  return different == 0;
}

class Request {
 public:
  Request(Collection& collection, const ServerOptions& options, std::string_view path, std::string_view query)
      : c_(collection), o_(options), path_(path), query_(query_of(query)) {}

  // path: behind the secret.
  Answer run() {
    if (path_.empty()) {
      c_.refresh();
      return page(index_page(c_, {one("metric"), one("sort")}));
    }
    if (path_ == "version") {
      c_.refresh();
      return {200, "text/plain; charset=utf-8", fmt::format("{}", c_.version()), {}};
    }
    if (path_ == "compare") return compare();
    const std::size_t slash = path_.find('/');
    const std::string_view what = path_.substr(0, slash);
    std::string_view rest = slash == std::string_view::npos ? std::string_view{} : path_.substr(slash + 1);
    const std::string_view id = rest.substr(0, rest.find('/'));
    rest.remove_prefix(std::min(rest.size(), id.size() + 1));
    const Entry* const e = c_.find(id);
    if (e == nullptr) return failure(404, "Not there", "There is no such result. It may have been removed.");
    if (what == "result" && e->kind == Kind::result) return result(*e, rest);
    if (what == "study" && e->kind == Kind::study && rest.empty())
      return page(with_way_back(o_.study(e->path), home()));
    if (what == "live" && e->kind == Kind::live) return live(*e, rest);
    return failure(404, "Not there", "There is no such page.");
  }
  Answer failure(int status, const std::string& title, const std::string& message) const {
    return {status, "text/html; charset=utf-8", error_page(title, message, home()), {}};
  }

 private:
  std::string home() const { return "/" + o_.secret + "/"; }
  static Answer page(std::string body) { return {200, "text/html; charset=utf-8", std::move(body), {}}; }
  std::string one(const char* name) const {
    const auto found = query_.find(name);
    return found == query_.end() ? std::string{} : found->second;
  }
  static result::Result read(const Entry& e) { return result::read_result_file(e.path); }

  Answer result(const Entry& e, std::string_view rest) const {
    if (rest == "json") return {200, "application/json", result::to_json(read(e)), {}};
    if (!rest.empty()) return failure(404, "Not there", "There is no such page.");
    return page(with_way_back(o_.page(read(e)), home()));
  }

  Answer live(const Entry& e, std::string_view rest) const {
    const LiveRun run = read_live(e.path);
    if (rest.empty()) return page(live_page(e, run, home()));
    if (rest != "rows") return failure(404, "Not there", "There is no such page.");
    const std::string text = one("from");
    std::size_t from = 0;
    const auto [end, bad] = std::from_chars(text.data(), text.data() + text.size(), from);
    if (bad != std::errc{} || end != text.data() + text.size())
      return failure(400, "Bad request", "from= is a number of rows.");
    return {200, "application/json", live_json(run, from), {}};
  }

  Answer compare() const {
    std::vector<Compared> results;
    const auto [first, last] = query_.equal_range("id");
    if (static_cast<std::size_t>(std::distance(first, last)) > most_compared)
      return failure(400, "Too many", fmt::format("At most {} results stand side by side.", most_compared));
    for (auto at = first; at != last; ++at) {
      const Entry* const e = c_.find(at->second);
      if (e == nullptr || e->kind != Kind::result)
        return failure(404, "Not there", "One of these results is not there. It may have been removed.");
      results.push_back({e->path.filename().string(), read(*e)});
    }
    if (results.size() < 2) return failure(400, "Too few", "Choose two results or more.");
    return page(compare_page(results, one("metric"), home()));
  }

  Collection& c_;
  const ServerOptions& o_;
  std::string_view path_;
  std::multimap<std::string, std::string> query_;
};

}  // namespace

std::multimap<std::string, std::string> query_of(std::string_view text) {
  constexpr std::size_t most = 256;
  std::multimap<std::string, std::string> out;
  while (!text.empty() && out.size() < most) {
    const std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), pair.size() + 1));
    const std::size_t equals = std::min(pair.find('='), pair.size());
    if (!pair.empty())
      out.emplace(decoded(pair.substr(0, equals)), decoded(pair.substr(std::min(equals + 1, pair.size()))));
  }
  return out;
}

Answer answer(Collection& collection, const ServerOptions& options, std::string_view target) {
  const std::string_view path = target.substr(0, target.find('?'));
  const std::string_view query = target.substr(std::min(target.size(), path.size() + 1));
  const std::string_view rest = path.substr(path.starts_with('/') ? 1 : 0);
  const std::size_t slash = rest.find('/');
  // Whoever does not know the secret learns nothing, not even that there is one.
  if (!is_secret(rest.substr(0, slash), options.secret))
    return {404, "text/plain; charset=utf-8", "not there\n", {}};
  if (slash == std::string_view::npos)
    return {301, "text/plain; charset=utf-8", "", "/" + options.secret + "/"};
  Request request(collection, options, rest.substr(slash + 1), query);
  try {
    return request.run();
  } catch (const Error& error) {
    const bool asked_wrongly = error.id() == "view-request";
    return request.failure(asked_wrongly ? 400 : 500,
                           asked_wrongly ? "Bad request" : "This could not be shown", error.format());
  } catch (const std::exception& error) {
    return request.failure(500, "This could not be shown", error.what());
  }
}

}  // namespace simtlab::report::viewer
