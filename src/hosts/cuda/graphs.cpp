#include "hosts/cuda/graphs.h"

#include <algorithm>

namespace simtlab::hosts::cuda {

GraphNode* Graph::add(NodeType type, std::span<GraphNode* const> after) {
  nodes.push_back(std::make_unique<GraphNode>());
  nodes.back()->type = type;
  nodes.back()->after.assign(after.begin(), after.end());
  return nodes.back().get();
}

Graph* Graphs::make() { return keep(std::make_unique<Graph>()); }

Graph* Graphs::keep(std::unique_ptr<Graph> graph) {
  Graph* const raw = graph.get();
  graphs_.emplace(raw, std::move(graph));
  return raw;
}

bool Graphs::destroy(Graph* graph) { return graphs_.erase(graph) != 0; }
bool Graphs::destroy(GraphProgram* program) { return programs_.erase(program) != 0; }

bool Graphs::has_node(const Graph* graph, const GraphNode* node) const {
  return std::ranges::any_of(graph->nodes, [&](const auto& other) { return other.get() == node; });
}

const GraphNode* Graphs::node(const GraphNode* node) const {
  for (const auto& [raw, graph] : graphs_)
    if (has_node(raw, node)) return node;
  return nullptr;
}

GraphProgram* Graphs::instantiate(const Graph& graph) {
  auto program = std::make_unique<GraphProgram>();
  std::map<const GraphNode*, std::size_t> place;
  // In the order of their making as far as their order allows.
  while (program->nodes.size() < graph.nodes.size()) {
    const std::size_t before = program->nodes.size();
    for (const auto& node : graph.nodes) {
      if (place.contains(node.get()) ||
          !std::ranges::all_of(node->after, [&](GraphNode* other) { return place.contains(other); }))
        continue;
      GraphProgram::Node out{node.get(), node->type, {}, true, node->submit, node->function, node->data};
      for (const GraphNode* other : node->after) {
        out.after.push_back(place.at(other));
        program->nodes[place.at(other)].last = false;
      }
      place.emplace(node.get(), program->nodes.size());
      program->nodes.push_back(std::move(out));
    }
    if (program->nodes.size() == before) return nullptr;
  }
  GraphProgram* const raw = program.get();
  programs_.emplace(raw, std::move(program));
  return raw;
}

Capture* Graphs::capture_of(gpu::StreamId stream) {
  const auto at = captures_.find(stream);
  return at == captures_.end() ? nullptr : at->second.get();
}

CudaError Graphs::begin(gpu::StreamId stream) {
  if (stream == 0) return error_stream_capture_unsupported;  // the legacy stream cannot be captured
  if (captures_.contains(stream)) return error_illegal_state;
  auto capture = std::make_shared<Capture>();
  capture->origin = stream;
  capture->id = next_capture_++;
  capture->ends[stream];
  captures_.emplace(stream, std::move(capture));
  return success;
}

// Every stream that took part must have been joined: its last operations come before something of the origin.
CudaError Graphs::end(gpu::StreamId stream, Graph** graph) {
  const auto at = captures_.find(stream);
  if (at == captures_.end()) return error_illegal_state;
  const std::shared_ptr<Capture> capture = at->second;
  if (capture->origin != stream) return error_stream_capture_unmatched;
  std::erase_if(captures_, [&](const auto& other) { return other.second == capture; });
  std::erase_if(events_, [&](const auto& other) { return other.second.capture == capture; });
  if (!capture->valid) return error_stream_capture_invalidated;
  std::set<const GraphNode*> joined;
  std::vector<const GraphNode*> open(capture->ends[stream].begin(), capture->ends[stream].end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (joined.insert(node).second) open.insert(open.end(), node->after.begin(), node->after.end());
  }
  for (const auto& [other, ends] : capture->ends)
    if (!std::ranges::all_of(ends, [&](const GraphNode* node) { return joined.contains(node); }))
      return error_stream_capture_unjoined;
  *graph = keep(std::move(capture->graph));
  return success;
}

GraphNode* Graphs::add(gpu::StreamId stream, NodeType type) {
  Capture& capture = *captures_.at(stream);
  std::vector<GraphNode*>& ends = capture.ends[stream];
  GraphNode* node = capture.graph->add(type, ends);
  ends = {node};
  return node;
}

void Graphs::record(gpu::EventId event, gpu::StreamId stream) {
  const std::shared_ptr<Capture>& capture = captures_.at(stream);
  events_[event] = {capture, capture->ends[stream]};
}

bool Graphs::wait(gpu::StreamId stream, gpu::EventId event, CudaError& code) {
  const auto mark = events_.find(event);
  const auto own = captures_.find(stream);
  if (mark == events_.end() && own == captures_.end()) return false;
  code = success;
  if (mark == events_.end()) {
    code = error_stream_capture_isolation;  // of work outside of the capture
    own->second->valid = false;
  } else if (own != captures_.end() && own->second != mark->second.capture) {
    code = error_stream_capture_merge;
    own->second->valid = mark->second.capture->valid = false;
  } else if (stream == 0) {
    code = error_stream_capture_implicit;
    mark->second.capture->valid = false;
  } else {
    if (own == captures_.end()) captures_.emplace(stream, mark->second.capture);
    std::vector<GraphNode*>& ends = mark->second.capture->ends[stream];
    for (GraphNode* node : mark->second.after)
      if (std::ranges::find(ends, node) == ends.end()) ends.push_back(node);
  }
  return true;
}

void Graphs::clear() {
  graphs_.clear();
  programs_.clear();
  captures_.clear();
  events_.clear();
}

}  // namespace simtlab::hosts::cuda
