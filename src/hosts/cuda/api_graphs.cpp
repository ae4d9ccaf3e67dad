// Graphs and stream capture.
//
// A launch puts the nodes on streams of its own that wait for the stream of the launch, and lets that stream
// wait for them: branches run side by side. The whole batch costs the host one launch (D-RUNTIME-12).
#include <algorithm>
#include <span>

#include "hosts/cuda/call.h"
#include "hosts/cuda/launch.h"
#include "hosts/cuda/transfer.h"

using namespace simtlab::hosts::cuda;
namespace gpu = simtlab::gpu;

namespace {

struct KernelNodeParams {
  const void* function;
  Dim3Arg grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};
struct MemsetParams {
  void* target;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;  // in elements, rows
};
struct HostNodeParams {
  void (*function)(void*);
  void* data;
};

// body: CudaError(Runtime&, std::span<GraphNode* const> after), for a node that waits for `count` others.
template <typename Body>
CudaError add_node(GraphNode** out, Graph* graph, GraphNode* const* after, std::size_t count, Body&& body) {
  return call([&](Runtime& r) {
    if (out == nullptr || !r.graphs.has(graph) || (count != 0 && after == nullptr))
      return error_invalid_value;
    const std::span<GraphNode* const> first(after, count);
    if (!std::ranges::all_of(first, [&](GraphNode* node) { return r.graphs.has_node(graph, node); }))
      return error_invalid_value;
    return body(r, first);
  });
}

CudaError kernel_node(Runtime& r, const KernelNodeParams* p, SubmitNode& submit) {
  if (p == nullptr || p->function == nullptr || p->extra != nullptr) return error_invalid_value;
  PreparedLaunch launch;
  const CudaError code = prepare(r, p->function, p->grid, p->block, p->arguments, p->shared_bytes, launch);
  if (code == success) submit = submit_of(std::move(launch));
  return code;
}

// Streams and events that live for one launch.
class Batch {
 public:
  Batch(gpu::Gpu& gpu, gpu::StreamId stream, const GraphProgram& program)
      : gpu_(gpu), stream_(stream), program_(program), ends_(program.nodes.size()) {
    begin_ = event(stream);
  }
  ~Batch() {
    for (const gpu::EventId e : events_) gpu_.destroy_event(e);
    for (const gpu::StreamId s : streams_) gpu_.destroy_stream(s);
  }
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // A stream on which everything that the node waits for has been submitted: that of a node before it, if
  // nobody has gone on there.
  gpu::StreamId stream_for(std::size_t node) {
    const std::vector<std::size_t>& after = program_.nodes[node].after;
    const auto free = std::ranges::find_if(after, [&](std::size_t other) { return ends_[other].open; });
    gpu::StreamId stream = 0;
    if (free != after.end()) {
      ends_[*free].open = false;
      stream = ends_[*free].stream;
    } else {
      stream = gpu_.create_stream(true, gpu_.priority(stream_));
      streams_.push_back(stream);
    }
    if (after.empty()) gpu_.wait_event(stream, begin_);
    for (const std::size_t other : after)
      if (ends_[other].stream != stream) gpu_.wait_event(stream, ends_[other].event);
    return stream;
  }
  void submitted(std::size_t node, gpu::StreamId stream) { ends_[node] = {stream, event(stream), true}; }
  // The stream of the launch goes on after all.
  void finish() {
    for (std::size_t i = 0; i < ends_.size(); ++i)
      if (program_.nodes[i].last) gpu_.wait_event(stream_, ends_[i].event);
  }

 private:
  struct End {
    gpu::StreamId stream = 0;
    gpu::EventId event = 0;
    bool open = false;  // the node is the last on its stream
  };
  gpu::EventId event(gpu::StreamId stream) {
    const gpu::EventId e = gpu_.create_event();
    gpu_.record_event(e, stream);
    events_.push_back(e);
    return e;
  }

  gpu::Gpu& gpu_;
  gpu::StreamId stream_;
  const GraphProgram& program_;
  gpu::EventId begin_ = 0;
  std::vector<End> ends_;
  std::vector<gpu::StreamId> streams_;
  std::vector<gpu::EventId> events_;
};

// Up to the next host function; true: there is one, and everything before it has been waited for.
CudaError go_on(Runtime& r, const GraphProgram& program, Batch& batch, std::size_t& next, bool& first,
                bool& host) {
  host = false;
  for (; next < program.nodes.size(); ++next) {
    const GraphProgram::Node& node = program.nodes[next];
    const gpu::StreamId stream = batch.stream_for(next);
    if (node.type == NodeType::host) {
      r.gpu().synchronize(stream);
      batch.submitted(next, stream);
      host = true;
      return success;
    }
    if (node.submit) {
      const CudaError code = node.submit(r, Runtime::handle_of(stream), first);
      if (code != success) return code;
      if (node.type == NodeType::kernel) first = false;
    }
    batch.submitted(next, stream);
  }
  batch.finish();
  return success;
}

CudaError instantiate(GraphProgram** out, const Graph* graph) {
  return call([&](Runtime& r) {
    if (out == nullptr || !r.graphs.has(graph)) return error_invalid_value;
    *out = r.graphs.instantiate(*graph);
    return *out == nullptr ? error_invalid_value : success;
  });
}

thread_local int capture_mode = 0;

}  // namespace

SIMTLAB_CUDA_API CudaError cudaStreamBeginCapture(StreamHandle stream, int mode) {
  return call([&](Runtime& r) {
    if (mode < 0 || mode > 2) return error_invalid_value;
    const std::optional<gpu::StreamId> id = r.stream(stream);
    return id ? r.graphs.begin(*id) : error_invalid_resource_handle;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamEndCapture(StreamHandle stream, Graph** graph) {
  return call([&](Runtime& r) {
    if (graph == nullptr) return error_invalid_value;
    *graph = nullptr;
    const std::optional<gpu::StreamId> id = r.stream(stream);
    return id ? r.graphs.end(*id, graph) : error_invalid_resource_handle;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamGetCaptureInfo(StreamHandle stream, int* status,
                                                    unsigned long long* id_out) {
  return call([&](Runtime& r) {
    if (status == nullptr) return error_invalid_value;
    const std::optional<gpu::StreamId> id = r.stream(stream);
    if (!id) return error_invalid_resource_handle;
    const Capture* capture = r.graphs.capture_of(*id);
    *status = capture == nullptr ? 0 : capture->valid ? 1 : 2;
    if (id_out != nullptr && capture != nullptr) *id_out = capture->id;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaStreamIsCapturing(StreamHandle stream, int* status) {
  return cudaStreamGetCaptureInfo(stream, status, nullptr);
}
SIMTLAB_CUDA_API CudaError cudaThreadExchangeStreamCaptureMode(int* mode) {
  if (mode == nullptr || *mode < 0 || *mode > 2) return note(error_invalid_value);
  std::swap(*mode, capture_mode);
  return success;
}

SIMTLAB_CUDA_API CudaError cudaGraphCreate(Graph** out, unsigned flags) {
  return call([&](Runtime& r) {
    if (out == nullptr || flags != 0) return error_invalid_value;
    *out = r.graphs.make();
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphDestroy(Graph* graph) {
  return call([&](Runtime& r) { return r.graphs.destroy(graph) ? success : error_invalid_value; });
}
SIMTLAB_CUDA_API CudaError cudaGraphGetNodes(Graph* graph, GraphNode** nodes, std::size_t* count) {
  return call([&](Runtime& r) {
    if (count == nullptr || !r.graphs.has(graph)) return error_invalid_value;
    for (std::size_t i = 0; nodes != nullptr && i < *count; ++i)
      nodes[i] = i < graph->nodes.size() ? graph->nodes[i].get() : nullptr;
    *count = nodes == nullptr ? graph->nodes.size() : std::min(*count, graph->nodes.size());
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphNodeGetType(const GraphNode* node, int* type) {
  return call([&](Runtime& r) {
    if (type == nullptr || r.graphs.node(node) == nullptr) return error_invalid_value;
    *type = static_cast<int>(node->type);
    return success;
  });
}

SIMTLAB_CUDA_API CudaError cudaGraphAddKernelNode(GraphNode** out, Graph* graph, GraphNode* const* after,
                                                  std::size_t count, const KernelNodeParams* p) {
  return add_node(out, graph, after, count, [&](Runtime& r, std::span<GraphNode* const> first) {
    SubmitNode submit;
    const CudaError code = kernel_node(r, p, submit);
    if (code != success) return code;
    *out = graph->add(NodeType::kernel, first);
    (*out)->submit = std::move(submit);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphAddMemcpyNode1D(GraphNode** out, Graph* graph, GraphNode* const* after,
                                                    std::size_t count, void* dst, const void* src,
                                                    std::size_t bytes, int kind) {
  return add_node(out, graph, after, count, [&](Runtime&, std::span<GraphNode* const> first) {
    if (dst == nullptr || src == nullptr) return error_invalid_value;
    *out = graph->add(NodeType::copy, first);
    (*out)->submit = [=](Runtime& r, StreamHandle stream, bool) {
      return copy_linear(r, dst, src, bytes, kind, stream, true);
    };
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphAddMemcpyNode(GraphNode** out, Graph* graph, GraphNode* const* after,
                                                  std::size_t count, const Memcpy3DParms* p) {
  return add_node(out, graph, after, count, [&](Runtime&, std::span<GraphNode* const> first) {
    if (p == nullptr) return error_invalid_value;
    *out = graph->add(NodeType::copy, first);
    (*out)->submit = [what = *p](Runtime& r, StreamHandle stream, bool) {
      return copy_3d(r, what, stream, true);
    };
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphAddMemsetNode(GraphNode** out, Graph* graph, GraphNode* const* after,
                                                  std::size_t count, const MemsetParams* p) {
  return add_node(out, graph, after, count, [&](Runtime& r, std::span<GraphNode* const> first) {
    if (p == nullptr || p->target == nullptr) return error_invalid_value;
    // Wider elements only as far as all of their bytes are equal: fills are by bytes.
    const unsigned size = p->element_bytes;
    if (size != 1 && size != 2 && size != 4) return error_invalid_value;
    const unsigned byte = p->value & 0xff, all = byte * (size == 1 ? 1u : size == 2 ? 0x101u : 0x1010101u);
    if (size != 1 && (size == 2 ? p->value & 0xffffu : p->value) != all)
      return r.unsupported("cudaGraphAddMemsetNode", "values whose bytes differ");
    gpu::Gpu::Box box;
    box.width = p->width * size;
    box.height = p->height;
    box.dst_pitch = p->height > 1 ? p->pitch : box.width;
    *out = graph->add(NodeType::fill, first);
    (*out)->submit = [box, byte, target = p->target](Runtime& runtime, StreamHandle stream, bool) {
      return fill_box(runtime, target, static_cast<int>(byte), box, stream, true);
    };
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphAddHostNode(GraphNode** out, Graph* graph, GraphNode* const* after,
                                                std::size_t count, const HostNodeParams* p) {
  return add_node(out, graph, after, count, [&](Runtime&, std::span<GraphNode* const> first) {
    if (p == nullptr || p->function == nullptr) return error_invalid_value;
    *out = graph->add(NodeType::host, first);
    (*out)->function = p->function;
    (*out)->data = p->data;
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphAddEmptyNode(GraphNode** out, Graph* graph, GraphNode* const* after,
                                                 std::size_t count) {
  return add_node(out, graph, after, count, [&](Runtime&, std::span<GraphNode* const> first) {
    *out = graph->add(NodeType::empty, first);
    return success;
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphAddDependencies(Graph* graph, GraphNode* const* from,
                                                    GraphNode* const* to, std::size_t count) {
  return call([&](Runtime& r) {
    if (!r.graphs.has(graph) || (count != 0 && (from == nullptr || to == nullptr)))
      return error_invalid_value;
    for (std::size_t i = 0; i < count; ++i)
      if (!r.graphs.has_node(graph, from[i]) || !r.graphs.has_node(graph, to[i])) return error_invalid_value;
    for (std::size_t i = 0; i < count; ++i) to[i]->after.push_back(from[i]);
    return success;
  });
}

// CUDA 11 and 12 differ in what follows the graph: flags, or where to report; nothing of it is wanted here.
SIMTLAB_CUDA_API CudaError cudaGraphInstantiate(GraphProgram** out, const Graph* graph) {
  return instantiate(out, graph);
}
SIMTLAB_CUDA_API CudaError cudaGraphInstantiateWithFlags(GraphProgram** out, const Graph* graph,
                                                         unsigned long long) {
  return instantiate(out, graph);
}
SIMTLAB_CUDA_API CudaError cudaGraphExecDestroy(GraphProgram* program) {
  return call([&](Runtime& r) { return r.graphs.destroy(program) ? success : error_invalid_value; });
}
SIMTLAB_CUDA_API CudaError cudaGraphExecKernelNodeSetParams(GraphProgram* program, const GraphNode* node,
                                                            const KernelNodeParams* p) {
  return call([&](Runtime& r) {
    if (!r.graphs.has(program)) return error_invalid_value;
    const auto at = std::ranges::find(program->nodes, node, &GraphProgram::Node::origin);
    if (node == nullptr || at == program->nodes.end() || at->type != NodeType::kernel)
      return error_invalid_value;
    return kernel_node(r, p, at->submit);
  });
}
SIMTLAB_CUDA_API CudaError cudaGraphUpload(GraphProgram* program, StreamHandle stream) {
  return call([&](Runtime& r) {
    if (!r.graphs.has(program)) return error_invalid_value;
    return r.stream(stream) ? success : error_invalid_resource_handle;
  });
}

// Host functions run in the calling thread and without the lock.
SIMTLAB_CUDA_API CudaError cudaGraphLaunch(GraphProgram* program, StreamHandle stream) {
  std::unique_ptr<Batch> batch;
  std::size_t next = 0;
  bool first = true, host = false;
  CudaError code = call([&](Runtime& r) {
    if (!r.graphs.has(program)) return error_invalid_value;
    const std::optional<gpu::StreamId> id = r.stream(stream);
    if (!id) return error_invalid_resource_handle;
    if (r.graphs.capture_of(*id) != nullptr)
      return r.unsupported("cudaGraphLaunch", "a stream that is being captured");
    batch = std::make_unique<Batch>(r.gpu(), *id, *program);
    return go_on(r, *program, *batch, next, first, host);
  });
  while (code == success && host) {
    program->nodes[next].function(program->nodes[next].data);
    ++next;
    code = call([&](Runtime& r) { return go_on(r, *program, *batch, next, first, host); });
  }
  if (batch == nullptr) return code;
  call_always([&](Runtime&) {
    batch.reset();
    return success;
  });
  return code;
}

SIMTLAB_CUDA_ALIAS(cudaStreamBeginCapture_ptsz, cudaStreamBeginCapture);
SIMTLAB_CUDA_ALIAS(cudaStreamEndCapture_ptsz, cudaStreamEndCapture);
SIMTLAB_CUDA_ALIAS(cudaStreamIsCapturing_ptsz, cudaStreamIsCapturing);
SIMTLAB_CUDA_ALIAS(cudaStreamGetCaptureInfo_ptsz, cudaStreamGetCaptureInfo);
SIMTLAB_CUDA_ALIAS(cudaGraphLaunch_ptsz, cudaGraphLaunch);
SIMTLAB_CUDA_ALIAS(cudaGraphUpload_ptsz, cudaGraphUpload);
