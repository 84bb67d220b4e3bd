// World: what init_process_group made in this process. Never destroyed by the end of the program, whose threads may
// still use it; destroy_process_group and the exit of the process take it down in order.
#pragma once

#include <sys/types.h>

#include "cresset/distributed/collectives.h"
#include "cresset/distributed/mesh_group.h"

namespace cresset::distributed {

struct World {
  pid_t pid = 0;
  InitOptions options;
  std::string master;  // the host that traffic goes to
  std::string generation;
  std::string names;  // in front of every key but health's: GENERATION and scope
  std::shared_ptr<Store> root;
  std::shared_ptr<Health> health;
  bool keeps_store = false;  // this process runs the server
  std::shared_ptr<MeshGroup> all;
  std::vector<std::shared_ptr<MeshGroup>> groups;  // the others
  int made = 0;                                    // how many new_group calls there were
};

// The group asked for, or the default one; refuses in words that name the operation.
std::shared_ptr<ProcessGroup> group_for(const char* op, const Group& group);
MeshGroup& mesh_for(const char* op, const Group& group);
std::shared_ptr<World> world_for(const char* op);

// Number 0 is the default group.
std::shared_ptr<MeshGroup> make_group(World& world, int number, std::vector<int> ranks, Milliseconds timeout,
                                      const std::string& backend);
// To be taken down with the world.
void keep_group(World& world, const std::shared_ptr<MeshGroup>& group);

// Connects the members of a group by the backend's transport.
std::shared_ptr<Transport> connect_transport(const World& world, const std::string& name, const std::vector<int>& ranks,
                                             Milliseconds timeout, const std::string& backend);
void check_backend(const char* op, const std::string& backend);

}  // namespace cresset::distributed
