// torch.distributed's functions, on the default group or the one in the options. Ranks (src, dst) are those of the
// world. Each waits until it is done unless async_op is set, and throws DistributedError when it fails.
#pragma once

#include "cresset/distributed/process_group.h"

namespace cresset::distributed {

struct InitOptions {
  std::string backend = "gloo";        // or "mpi"
  std::string init_method = "env://";  // tcp://HOST:PORT, file:///PATH
  int rank = -1;                       // -1: from the environment (the launcher's, mpirun's or srun's variables)
  int world_size = -1;
  std::shared_ptr<Store> store;  // in place of init_method
  Milliseconds timeout = kDefaultTimeout;
  std::string group_name;
  std::string token;  // a secret that all ranks must share; empty: CRESSET_TOKEN, or none
};

CRESSET_API void init_process_group(const InitOptions& options = {});
CRESSET_API void init_process_group(const std::string& backend);
CRESSET_API bool is_initialized();
CRESSET_API bool is_available();
CRESSET_API bool is_mpi_available();
// Leaves in good order; without a group: the default one and all others.
CRESSET_API void destroy_process_group(const Group& group = nullptr);
// Every process calls it with the same ranks (all of them when empty); without a backend it has that of the world.
// Those that are not members get a group, too, on which get_rank and get_world_size are -1 and everything else throws.
CRESSET_API Group new_group(std::vector<int> ranks = {}, std::optional<Milliseconds> timeout = {},
                            const std::string& backend = {});
CRESSET_API Group default_group();
CRESSET_API int get_rank(const Group& group = nullptr);  // -1: not a member
CRESSET_API int get_world_size(const Group& group = nullptr);
CRESSET_API std::string get_backend(const Group& group = nullptr);
CRESSET_API std::shared_ptr<Store> default_store();
CRESSET_API int get_local_rank();  // LOCAL_RANK, or what mpirun and srun say; 0 otherwise

struct CollectiveOptions {
  ReduceOp op = ReduceOp::SUM;
  Group group = nullptr;
  bool async_op = false;

  CollectiveOptions() = default;
  CollectiveOptions(ReduceOp op_, Group group_ = nullptr, bool async = false)  // NOLINT: all_reduce(t, ReduceOp::MAX)
      : op(op_), group(std::move(group_)), async_op(async) {}
  CollectiveOptions(Group group_, bool async = false)  // NOLINT: broadcast(t, 0, group)
      : group(std::move(group_)), async_op(async) {}
  static CollectiveOptions async(ReduceOp op = ReduceOp::SUM, Group group = nullptr) {
    return {op, std::move(group), true};
  }
};

using Tensors = std::vector<Tensor>;
CRESSET_API Work all_reduce(const Tensor& tensor, const CollectiveOptions& options = {});
CRESSET_API Work all_reduce_coalesced(const Tensors& tensors, const CollectiveOptions& options = {});
CRESSET_API Work broadcast(const Tensor& tensor, int src, const CollectiveOptions& options = {});
CRESSET_API Work broadcast_coalesced(const Tensors& tensors, int src, const CollectiveOptions& options = {});
CRESSET_API Work reduce(const Tensor& tensor, int dst, const CollectiveOptions& options = {});
CRESSET_API Work all_gather(const Tensors& outputs, const Tensor& input, const CollectiveOptions& options = {});
CRESSET_API Work all_gather_into_tensor(const Tensor& output, const Tensor& input, const CollectiveOptions& o = {});
CRESSET_API Work all_gather_coalesced(const std::vector<Tensors>& outputs, const Tensors& inputs,
                                      const CollectiveOptions& options = {});
CRESSET_API Work gather(const Tensor& input, const Tensors& outputs, int dst = 0, const CollectiveOptions& o = {});
CRESSET_API Work scatter(const Tensor& output, const Tensors& inputs, int src = 0, const CollectiveOptions& o = {});
CRESSET_API Work reduce_scatter(const Tensor& output, const Tensors& inputs, const CollectiveOptions& options = {});
CRESSET_API Work reduce_scatter_tensor(const Tensor& output, const Tensor& input, const CollectiveOptions& o = {});
CRESSET_API Work all_to_all(const Tensors& outputs, const Tensors& inputs, const CollectiveOptions& options = {});
CRESSET_API Work all_to_all_single(const Tensor& output, const Tensor& input,
                                   std::vector<int64_t> output_split_sizes = {},
                                   std::vector<int64_t> input_split_sizes = {}, const CollectiveOptions& o = {});
CRESSET_API Work barrier(const CollectiveOptions& options = {});
// A barrier whose error names the ranks that did not come: the first, or all of them.
CRESSET_API void monitored_barrier(const Group& group = nullptr, std::optional<Milliseconds> timeout = {},
                                   bool wait_all_ranks = false);

CRESSET_API void send(const Tensor& tensor, int dst, int tag = 0, const Group& group = nullptr);
CRESSET_API int recv(const Tensor& tensor, std::optional<int> src = {}, int tag = 0, const Group& group = nullptr);
CRESSET_API Work isend(const Tensor& tensor, int dst, int tag = 0, const Group& group = nullptr);
CRESSET_API Work irecv(const Tensor& tensor, std::optional<int> src = {}, int tag = 0, const Group& group = nullptr);

// Objects are byte strings; what is in them is the caller's affair.
CRESSET_API std::vector<std::string> all_gather_object(std::string_view object, const Group& group = nullptr);
CRESSET_API void broadcast_object_list(std::vector<std::string>& objects, int src = 0, const Group& group = nullptr);
CRESSET_API std::vector<std::string> gather_object(std::string_view object, int dst = 0, const Group& group = nullptr);
CRESSET_API std::string scatter_object_list(const std::vector<std::string>& objects, int src = 0,
                                            const Group& group = nullptr);

}  // namespace cresset::distributed
