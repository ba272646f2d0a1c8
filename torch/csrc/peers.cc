#include "peers.h"

#include <ATen/ExpandUtils.h>

#include "guard.h"

namespace graft {

namespace {

thread_local const Share *current = nullptr;

// The first sentence, without the place in Gloo's source that it begins with.
std::string plain(const std::string &what) {
  const std::string line = what.substr(0, what.find('\n'));
  const auto end = !line.empty() && line[0] == '[' ? line.find("] ") : std::string::npos;
  const std::string said = end == std::string::npos ? line : line.substr(end + 2);
  return said.substr(0, said.find(". "));
}

}  // namespace

template <typename Body>
void Peers::attempt(const Body &body) {
  if (!failure_.empty()) throw PeerLost(failure_);
  try {
    c10::NoGradGuard guard;
    body();
  } catch (const std::exception &e) {
    failure_ = plain(e.what());
    throw PeerLost(failure_);
  }
}

void Peers::sum(at::Tensor &t) {
  attempt([&] {
    at::Tensor dense = t.contiguous();
    all_reduce(dense);
    if (!dense.is_same(t)) t.copy_(dense);
  });
}

void Peers::sum(const std::vector<at::Tensor> &tensors) {
  for (size_t from = 0, to = 0; from < tensors.size(); from = to) {
    std::vector<at::Tensor> flat;
    for (; to < tensors.size() && tensors[to].options().type_equal(tensors[from].options()); to++) flat.push_back(tensors[to].reshape(-1));
    at::Tensor all = at::cat(flat);
    sum(all);
    int64_t at = 0;
    for (size_t k = from; k < to; at += tensors[k].numel(), k++) tensors[k].copy_(all.narrow(0, at, tensors[k].numel()).view_as(tensors[k]));
  }
}

void Peers::broadcast(std::vector<at::Tensor> &tensors, int32_t root) {
  TORCH_CHECK(root >= 0 && root < size, "process ", root, " of ", size);
  attempt([&] {
    for (at::Tensor &t : tensors) {
      if (t.numel() == 0) continue;
      at::Tensor dense = t.detach().contiguous();
      spread(dense, root);
      if (!dense.is_alias_of(t)) t.detach().copy_(dense);
    }
  });
}

Share Share::of(Peers *peers, int64_t total) {
  Share s;
  s.total = s.count = total;
  if (peers == nullptr) return s;
  s.peers = peers;
  const int64_t even = total / peers->size, more = total % peers->size;
  s.start = peers->rank * even + std::min<int64_t>(peers->rank, more);
  s.count = even + (peers->rank < more ? 1 : 0);
  if (s.count == 0) {
    s.idle = true;
    s.start = total - 1;
    s.count = 1;
  }
  return s;
}

const Share *sharing() { return current; }

Sharing::Sharing(const Share &share) : was_(current) { current = share.peers == nullptr ? nullptr : &share; }

Sharing::~Sharing() { current = was_; }

// Numbers are drawn in the order of memory, which must be that of the whole batch
// in one process: row by row, each laid out like those of x. A row of the batch may be several of x.
at::Tensor like_whole_batch(const at::Tensor &x) {
  if (current == nullptr) return at::empty_like(x);
  TORCH_CHECK(x.dim() > 0 && x.size(0) > 0 && x.size(0) % current->count == 0, "values of shape ", x.sizes(), " for ", current->count, " rows of a batch");
  std::vector<int64_t> sizes = x.sizes().vec(), strides = at::infer_dense_strides(x.sizes().slice(1), x.strides().slice(1));
  sizes[0] = current->total * (x.size(0) / current->count);
  strides.insert(strides.begin(), x.numel() / x.size(0));
  return at::empty_strided(sizes, strides, x.options());
}

at::Tensor own_rows(const at::Tensor &whole) {
  if (current == nullptr) return whole;
  const int64_t each = whole.size(0) / current->total;
  return whole.narrow(0, current->start * each, current->count * each);
}

}  // namespace graft

using graft::guarded;
using graft::Peers;

char *graft_peers_new(const graft_peers_options *options, graft_peers *out) {
  return guarded([&] {
    TORCH_CHECK(options->size > 0 && options->rank >= 0 && options->rank < options->size, "process ", options->rank, " of ", options->size);
    *out = graft::make_peers(*options).release();
  });
}

static std::vector<at::Tensor> listed(const graft_t *tensors, int64_t count) {
  std::vector<at::Tensor> list;
  for (int64_t k = 0; k < count; k++) list.push_back(graft::deref(tensors[k], "a tensor"));
  return list;
}

char *graft_peers_sum(graft_peers peers, const graft_t *tensors, int64_t count) {
  return guarded([&] {
    c10::NoGradGuard guard;
    auto list = listed(tensors, count);
    static_cast<Peers *>(peers)->sum(list);
  });
}

char *graft_peers_broadcast(graft_peers peers, int32_t root, const graft_t *tensors, int64_t count) {
  return guarded([&] {
    auto list = listed(tensors, count);
    static_cast<Peers *>(peers)->broadcast(list, root);
  });
}

void graft_peers_close(graft_peers peers) { delete static_cast<Peers *>(peers); }
