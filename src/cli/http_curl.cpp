// libcurl is loaded when the first request is made: a run that needs no network does not pay for it.
#include "cli/hub.hpp"
#include "cli/machine.hpp"
#include "cli/system.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <curl/curl.h>
#include <thread>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;

constexpr const char* library_names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib"};

/// The functions that are needed of it.
struct Curl {
  decltype(&curl_global_init) global_init = nullptr;
  decltype(&curl_easy_init) init = nullptr;
  decltype(&curl_easy_setopt) set = nullptr;
  decltype(&curl_easy_perform) perform = nullptr;
  decltype(&curl_easy_getinfo) info = nullptr;
  decltype(&curl_easy_cleanup) cleanup = nullptr;
  decltype(&curl_easy_strerror) describe = nullptr;
  decltype(&curl_slist_append) append = nullptr;
  decltype(&curl_slist_free_all) free_list = nullptr;
};

template <class Function>
void load(const SharedLibrary& library, const char* name, Function*& function) {
  function = library.function<Function>(name);
  if (function == nullptr) throw BadInput("network", std::string("libcurl lacks ") + name);
}

Curl open_library() {
  const SharedLibrary library(library_names);
  if (!library.is_here())
    throw BadInput("network", "libcurl is not installed", "install libcurl, or name a file or folder");
  Curl curl;
  load(library, "curl_global_init", curl.global_init);
  load(library, "curl_easy_init", curl.init);
  load(library, "curl_easy_setopt", curl.set);
  load(library, "curl_easy_perform", curl.perform);
  load(library, "curl_easy_getinfo", curl.info);
  load(library, "curl_easy_cleanup", curl.cleanup);
  load(library, "curl_easy_strerror", curl.describe);
  load(library, "curl_slist_append", curl.append);
  load(library, "curl_slist_free_all", curl.free_list);
  curl.global_init(CURL_GLOBAL_DEFAULT);
  return curl;
}

const Curl& curl() {
  static const Curl library = open_library();
  return library;
}

/// Bytes and headers that a transfer collects.
struct Transfer {
  HttpResponse response;
  std::uint64_t most = 0;
  bool cut = false;  ///< more came than was asked for
  std::string location;
  long retry_after = 0;
  std::uint64_t length = 0;
};

std::size_t take_body(char* data, std::size_t, std::size_t count, void* into) {
  auto& transfer = *static_cast<Transfer*>(into);
  const auto room = transfer.most - transfer.response.body.size();
  transfer.response.body.append(data, std::min<std::uint64_t>(count, room));
  transfer.cut = count > room;
  return transfer.cut ? 0 : count;  // less than what came ends the transfer
}

/// The value of a header of that name, whose case does not matter.
std::string_view value_of(std::string_view line, std::string_view name) {
  const auto equal = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  if (line.size() <= name.size() || line[name.size()] != ':') return {};
  if (!std::equal(name.begin(), name.end(), line.begin(), [&](char b, char a) { return equal(a, b); })) return {};
  line.remove_prefix(name.size() + 1);
  while (line.starts_with(' ')) line.remove_prefix(1);
  while (line.ends_with('\r') || line.ends_with('\n')) line.remove_suffix(1);
  return line;
}

/// The address in "<https://host/list?cursor=x>; rel=\"next\"", alone or among other links.
std::string_view next_link(std::string_view links) {
  const auto relation = links.find("rel=\"next\"");
  const auto end = relation == std::string_view::npos ? relation : links.rfind('>', relation);
  const auto begin = end == std::string_view::npos ? end : links.rfind('<', end);
  return begin == std::string_view::npos ? std::string_view() : links.substr(begin + 1, end - begin - 1);
}

/// Leaves the number as it is where the text says none.
template <class Number>
void read_number(std::string_view text, Number& number) {
  number = quantity::take_number<Number>(text).value_or(number);
}

std::size_t take_header(char* data, std::size_t, std::size_t count, void* into) {
  auto& transfer = *static_cast<Transfer*>(into);
  const std::string_view line(data, count);
  if (const auto code = value_of(line, "x-error-code"); !code.empty()) transfer.response.error_code = code;
  if (const auto url = value_of(line, "location"); !url.empty()) transfer.location = url;
  if (const auto links = value_of(line, "link"); !links.empty()) transfer.response.next = next_link(links);
  read_number(value_of(line, "retry-after"), transfer.retry_after);
  read_number(value_of(line, "content-length"), transfer.length);
  const auto range = value_of(line, "content-range");
  read_number(range.substr(range.find('/') + 1), transfer.response.size);
  return count;
}

std::string_view host_of(std::string_view url) {
  const auto scheme = url.find("://");
  if (scheme == std::string_view::npos) return {};
  return url.substr(0, url.find('/', scheme + 3));
}

/// The token is the Hub's alone.
curl_slist* own_headers(const std::string& url, const HubEnvironment& hub) {
  const bool is_hub = host_of(url) == host_of(hub.endpoint);
  return hub.token.empty() || !is_hub ? nullptr
                                      : curl().append(nullptr, ("Authorization: Bearer " + hub.token).c_str());
}

/// Whoever waits is told what is read.
struct Told {
  Notice& notice;
  const std::string& url;
  const std::string& body;
};

/// Called some times a second, also while nothing comes.
int tell(void* told, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& [notice, url, body] = *static_cast<Told*>(told);
  if (notice.is_due()) notice.show(fmt::format("reading {}, {} KiB", url, body.size() >> 10U));
  return 0;
}

void set_protocols(const auto& set) {
#if LIBCURL_VERSION_NUM >= 0x075500
  set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
  set(CURLOPT_PROTOCOLS, long{CURLPROTO_HTTP | CURLPROTO_HTTPS});
#endif
}

/// How long a request may take: twelve time-outs, and no longer than what is left for all of them.
/// \throws quantity::BadInput where nothing is left
long milliseconds_for(const std::string& url, const HubEnvironment& hub) {
  using std::chrono::milliseconds;
  const auto of_all = std::chrono::seconds(hub.whole) - (std::chrono::steady_clock::now() - hub.begun);
  const auto left = std::chrono::duration_cast<milliseconds>(of_all).count();
  if (left <= 0) {
    throw BadInput(url, fmt::format("is not asked for: what was asked before took {} s", hub.whole),
                   "HF_HUB_DOWNLOAD_TIMEOUT allows more, thirty times its seconds for a model");
  }
  return static_cast<long>(std::min<std::int64_t>(left, 12'000 * std::int64_t{hub.timeout}));
}

/// One request without following redirects.
Transfer perform(const std::string& url, const HubEnvironment& hub, const HttpRequest& request) {
  const Curl& library = curl();
  const std::unique_ptr<CURL, decltype(library.cleanup)> handle(library.init(), library.cleanup);
  if (!handle) throw BadInput("network", "libcurl does not start");
  Transfer transfer;
  transfer.most = request.most;
  const std::unique_ptr<curl_slist, decltype(library.free_list)> headers(own_headers(url, hub), library.free_list);
  const std::string range = fmt::format("0-{}", request.most - 1);
  constexpr long slowest = 1;  // bytes a second over the whole time-out
  const auto set = [&](CURLoption option, auto value) { library.set(handle.get(), option, value); };
  set(CURLOPT_URL, url.c_str());
  set_protocols(set);
  set(CURLOPT_USERAGENT, "llmcalc");
  set(CURLOPT_HTTPHEADER, headers.get());
  set(CURLOPT_CONNECTTIMEOUT, hub.timeout);
  set(CURLOPT_LOW_SPEED_TIME, hub.timeout);
  set(CURLOPT_LOW_SPEED_LIMIT, slowest);
  set(CURLOPT_TIMEOUT_MS, milliseconds_for(url, hub));
  set(CURLOPT_NOSIGNAL, 1L);
  set(CURLOPT_WRITEFUNCTION, take_body);
  set(CURLOPT_WRITEDATA, static_cast<void*>(&transfer));
  set(CURLOPT_HEADERFUNCTION, take_header);
  set(CURLOPT_HEADERDATA, static_cast<void*>(&transfer));
  std::optional<Told> told;
  if (hub.notice) {
    told.emplace(Told{*hub.notice, url, transfer.response.body});
    set(CURLOPT_NOPROGRESS, 0L);
    set(CURLOPT_XFERINFOFUNCTION, tell);
    set(CURLOPT_XFERINFODATA, static_cast<void*>(&*told));
  }
  if (request.range) set(CURLOPT_RANGE, range.c_str());
  const CURLcode result = library.perform(handle.get());
  library.info(handle.get(), CURLINFO_RESPONSE_CODE, &transfer.response.status);
  if (transfer.response.size == 0) transfer.response.size = transfer.length;
  if (transfer.cut && !request.range) throw BadInput(url, fmt::format("sends more than {} bytes", request.most));
  if (result != CURLE_OK && !transfer.cut)
    throw BadInput(url, std::string("cannot be read: ") + library.describe(result));
  return transfer;
}

/// A redirect is a whole address, one without its scheme, a path of the host, one beside what was asked or another
/// question to that (RFC 3986, 4.2); the library takes the dots out of a path.
std::string absolute(const std::string& location, const std::string& from) {
  const auto mark = location.find_first_of(":/?#");
  if (mark != location.npos && location[mark] == ':') return location;
  if (location.starts_with("//")) return from.substr(0, from.find(':') + 1) + location;
  const std::string host(host_of(from));
  if (location.starts_with('/')) return host + location;
  if (location.starts_with('?')) return from.substr(0, from.find_first_of("?#")) + location;
  const auto folder = from.rfind('/', from.find_first_of("?#"));
  return (folder < host.size() ? host : from.substr(0, folder)) + '/' + location;
}

}  // namespace

HttpResponse http_get(const std::string& url, const HubEnvironment& hub, const HttpRequest& request) {
  constexpr int most_redirects = 5;
  constexpr long too_many = 429;
  constexpr long longest_wait = 5;
  std::string at = url;
  bool waited = false;
  for (int redirects = 0; redirects <= most_redirects;) {
    Transfer transfer = perform(at, hub, request);
    const long status = transfer.response.status;
    if (status >= 300 && status < 400 && !transfer.location.empty()) {
      at = absolute(transfer.location, at);
      ++redirects;
    } else if (status == too_many && !waited) {
      waited = true;
      std::this_thread::sleep_for(std::chrono::seconds(std::clamp(transfer.retry_after, 0L, longest_wait)));
    } else {
      if (!transfer.response.next.empty()) transfer.response.next = absolute(transfer.response.next, at);
      return std::move(transfer.response);
    }
  }
  throw BadInput(url, "redirects in a circle");
}

}  // namespace llmcalc::cli
