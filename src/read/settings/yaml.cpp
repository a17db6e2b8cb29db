// YAML by yaml-cpp's events, so that the bounds hold while the file is read and not behind it.
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

namespace llmcalc::read {
namespace {

using quantity::BadInput;

std::size_t size_of(const Node& node) {
  const auto of_member = [](const Member& member) { return size_of(member.value); };
  return 1 + quantity::sum_of(node.items, size_of) + quantity::sum_of(node.members, of_member);
}

int depth_of(const Node& node) {
  int depth = 0;
  for (const auto& item : node.items) depth = std::max(depth, depth_of(item));
  for (const auto& [key, member] : node.members) depth = std::max(depth, depth_of(member));
  return depth + 1;
}

/// "<<: *defaults" brings the members of another table, which the table's own override.
void merge_defaults(Node& table) {
  const Node* found = table.find("<<");
  if (found == nullptr) return;
  const Node merged = *found;
  std::erase_if(table.members, [](const auto& member) { return member.key == "<<"; });
  const auto bring = [&](const Node& from) {
    for (const auto& member : from.members) {
      if (table.find(member.key) == nullptr) table.members.push_back(member);
    }
  };
  bring(merged);
  for (const auto& each : merged.items) bring(each);
}

Node node_of(Node::Kind kind, std::string text = {}) {
  Node node;
  node.kind = kind;
  node.text = std::move(text);
  return node;
}

class Builder : public YAML::EventHandler {
 public:
  explicit Builder(std::string_view place) : place_(place) {}

  /// One document is what it holds; several are a list.
  Node take() && {
    if (documents_.size() == 1) return std::move(documents_.front());
    Node all = node_of(Node::Kind::list);
    all.items = std::move(documents_);
    return all;
  }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {
    documents_.push_back(std::exchange(root_, {}));
    anchored_.clear();
  }
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(node_of(Node::Kind::nothing), mark, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    const bool plain = tag != "!";  // yaml-cpp marks what stands in quotes with it
    const bool nothing = plain && (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL");
    add(nothing ? node_of(Node::Kind::nothing) : node_of(Node::Kind::value, text), mark, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchored_.find(anchor);
    if (found == anchored_.end()) fail(mark, "names an anchor that is still open");
    count(size_of(found->second), mark);
    if (static_cast<int>(open_.size()) + depth_of(found->second) > deepest_node) refuse_depth(mark);
    place_node(found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(node_of(Node::Kind::list), mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(node_of(Node::Kind::table), mark, anchor);
  }
  void OnMapEnd() override {
    merge_defaults(open_.back().node);
    close();
  }

 private:
  struct Open {
    Node node;
    YAML::anchor_t anchor = 0;
    std::string key;
    bool has_key = false;
  };

  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& problem) const {
    throw BadInput(at(mark), problem);
  }
  [[noreturn]] void refuse_depth(const YAML::Mark& mark) const {
    fail(mark, fmt::format("nests deeper than {} levels", deepest_node));
  }
  std::string at(const YAML::Mark& mark) const { return fmt::format("{}:{}", place_, mark.line + 1); }

  void count(std::size_t nodes, const YAML::Mark& mark) {
    nodes_ += nodes;
    if (nodes_ > most_nodes) fail(mark, fmt::format("holds more than {} values, aliases expanded", most_nodes));
  }

  void add(Node node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    count(1, mark);
    node.where = at(mark);
    if (anchor != 0) anchored_[anchor] = node;
    place_node(std::move(node));
  }

  void open(Node node, const YAML::Mark& mark, YAML::anchor_t anchor) {
    count(1, mark);
    if (static_cast<int>(open_.size()) >= deepest_node) refuse_depth(mark);
    node.where = at(mark);
    open_.push_back({std::move(node), anchor, {}, false});
  }

  void close() {
    Open closed = std::move(open_.back());
    open_.pop_back();
    if (closed.anchor != 0) anchored_[closed.anchor] = closed.node;
    place_node(std::move(closed.node));
  }

  /// Where a finished node belongs: the document, the next item of a list, the next key or value of a table.
  void place_node(Node node) {
    if (open_.empty()) {
      root_ = std::move(node);
    } else if (Open& parent = open_.back(); parent.node.kind == Node::Kind::list) {
      parent.node.items.push_back(std::move(node));
    } else if (!parent.has_key) {
      parent.key = std::move(node.text);
      parent.has_key = true;
    } else {
      parent.has_key = false;
      std::erase_if(parent.node.members,
                    [&](const auto& member) { return member.key == parent.key && parent.key != "<<"; });
      parent.node.members.push_back({std::move(parent.key), std::move(node)});
    }
  }

  std::string place_;
  std::vector<Node> documents_;
  Node root_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, Node> anchored_;
  std::size_t nodes_ = 0;
};

}  // namespace

Node parse_yaml(std::string_view text, std::string_view place) {
  refuse_large(text, place);
  std::istringstream stream{std::string(text)};
  Builder builder(place);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& error) {
    throw BadInput(fmt::format("{}:{}", place, error.mark.line + 1), "is not YAML: " + error.msg);
  }
  return std::move(builder).take();
}

}  // namespace llmcalc::read
