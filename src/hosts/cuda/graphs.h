// CUDA graphs: operations with an order between some of them, made node by node or captured from streams,
// launched as one batch.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "gpu/gpu.h"
#include "hosts/cuda/cuda_api.h"

namespace simtlab::hosts::cuda {

class Runtime;

enum class NodeType : int { kernel = 0, copy = 1, fill = 2, host = 3, empty = 5 };  // as cudaGraphNodeType

// How an operation is put on a stream. first: none of the launch has paid for it yet.
using SubmitNode = std::function<CudaError(Runtime&, StreamHandle, bool first)>;

struct GraphNode {
  NodeType type = NodeType::empty;
  std::vector<GraphNode*> after;      // that must have ended before
  SubmitNode submit;                  // empty: nothing to do, or host
  void (*function)(void*) = nullptr;  // host
  void* data = nullptr;
};

struct Graph {
  std::vector<std::unique_ptr<GraphNode>> nodes;
  GraphNode* add(NodeType type, std::span<GraphNode* const> after);
};

// A graph ready to be launched: nodes in an order that keeps theirs.
struct GraphProgram {
  struct Node {
    const GraphNode* origin = nullptr;  // of the graph that it was made from, for cudaGraphExec...SetParams
    NodeType type = NodeType::empty;
    std::vector<std::size_t> after;
    bool last = true;  // nothing comes after it
    SubmitNode submit;
    void (*function)(void*) = nullptr;
    void* data = nullptr;
  };
  std::vector<Node> nodes;
};

// What streams that are being captured collect.
struct Capture {
  std::unique_ptr<Graph> graph = std::make_unique<Graph>();
  gpu::StreamId origin = 0;
  std::uint64_t id = 0;
  bool valid = true;
  std::map<gpu::StreamId, std::vector<GraphNode*>> ends;  // of each stream that takes part
};

class Graphs {
 public:
  Graph* make();
  Graph* keep(std::unique_ptr<Graph> graph);
  bool destroy(Graph* graph);
  bool has(const Graph* graph) const { return graphs_.contains(const_cast<Graph*>(graph)); }
  bool has_node(const Graph* graph, const GraphNode* node) const;
  const GraphNode* node(const GraphNode* node) const;  // null: no graph has it
  // Nothing if the order goes in a circle.
  GraphProgram* instantiate(const Graph& graph);
  bool destroy(GraphProgram* program);
  bool has(const GraphProgram* program) const {
    return programs_.contains(const_cast<GraphProgram*>(program));
  }

  // Streams
  Capture* capture_of(gpu::StreamId stream);  // null: it is not captured
  CudaError begin(gpu::StreamId stream);
  CudaError end(gpu::StreamId stream, Graph** graph);
  // The next operation of a captured stream.
  GraphNode* add(gpu::StreamId stream, NodeType type);
  void record(gpu::EventId event, gpu::StreamId stream);  // the stream is captured
  // The stream waits for an event: true if that event, or the stream, is part of a capture, with the answer
  // in `code`.
  bool wait(gpu::StreamId stream, gpu::EventId event, CudaError& code);
  void forget_event(gpu::EventId event) { events_.erase(event); }
  // Captures and graphs of a device that is reset
  void clear();

 private:
  std::map<Graph*, std::unique_ptr<Graph>> graphs_;
  std::map<GraphProgram*, std::unique_ptr<GraphProgram>> programs_;
  std::map<gpu::StreamId, std::shared_ptr<Capture>> captures_;  // by stream that takes part
  struct Mark {
    std::shared_ptr<Capture> capture;
    std::vector<GraphNode*> after;
  };
  std::map<gpu::EventId, Mark> events_;
  std::uint64_t next_capture_ = 1;
};

}  // namespace simtlab::hosts::cuda
