#include "slurm_cluster.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "tests/support/paths.h"

namespace faults {
namespace {

namespace fs = std::filesystem;

// Unpacked by ./x setup, or installed.
fs::path unpacked() { return cresset::test::source_path("build/slurm"); }

std::string path_of(const std::string& name) {
  const std::string debian = name + "-wlm";  // what Debian calls the daemons, beside a link that installing makes
  for (const char* folder : {"usr/sbin", "usr/bin"})
    for (const std::string& file : {name, debian})
      if (fs::exists(unpacked() / folder / file)) return unpacked() / folder / file;
  std::istringstream folders(std::string(std::getenv("PATH") ? std::getenv("PATH") : "") + ":/usr/sbin:/usr/bin");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (access((folder + "/" + name).c_str(), X_OK) == 0) return folder + "/" + name;
  return {};
}

// Of the unpacked packages: where Debian would have installed them.
std::string plugins() {
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(unpacked() / "usr/lib", none))
    if (fs::exists(entry.path() / "slurm-wlm")) return entry.path() / "slurm-wlm";
  return {};
}

// 127.0.0.1 and 127.0.0.2 are names of nodes here: a program looks them up as it does any other, and every machine
// knows them.
constexpr const char* kNodes[] = {"127.0.0.1", "127.0.0.2"};
constexpr int kControllerPort = 16817;
constexpr int kNodePort = 16818;

}  // namespace

std::string SlurmCluster::missing() {
  for (const char* name : {"munged", "slurmctld", "slurmd", "slurmstepd", "srun", "sbatch", "sinfo"})
    if (path_of(name).empty()) return std::string("no ") + name + " (./x setup unpacks it)";
  if (shell("LD_LIBRARY_PATH='" + plugins() + "' " + path_of("slurmd") + " -V") != 0)
    return "slurmd does not run here: a library that it needs is missing";
  if (!has_own_network()) return "a network of its own needs root";
  if (shell("ip -V") != 0) return "no ip (Debian: apt install iproute2)";
  return {};
}

SlurmCluster::SlurmCluster(Trial& trial) : trial_(trial) {
  environment_["SLURM_CONF"] = folder_.path() + "/slurm.conf";
  if (!plugins().empty()) {
    const char* before = std::getenv("LD_LIBRARY_PATH");
    environment_["LD_LIBRARY_PATH"] = plugins() + (before ? std::string(":") + before : "");
  }
  write_configuration();
  // The C library takes a machine whose only address is 127.0.0.1 for one without a network, and Slurm asks it.
  EXPECT_EQ(shell("ip address replace 127.0.0.2/8 dev lo"), 0);
  const std::string& here = folder_.path();
  start_daemon(others_, "munged",
               {path_of("munged"), "--foreground", "--force", "--num-threads=1", "--socket=" + here + "/munge.socket",
                "--key-file=" + here + "/munge.key", "--pid-file=" + here + "/munged.pid",
                "--log-file=" + here + "/munged.log", "--seed-file=" + here + "/munged.seed"});
  wait_while("munged", [&] { return !fs::exists(here + "/munge.socket"); });
  if (!fs::exists(here + "/munge.socket")) {
    refusal_ = "munged does not start: " + trial_.output("munged");
    return;
  }
  start_daemon(others_, "slurmctld", {path_of("slurmctld"), "-D", "-c"});
  // Whoever finds no controller asks again after a second.
  wait_while("slurmctld", [] { return !listening_ports().contains(kControllerPort); });
  for (const char* node : kNodes)
    start_daemon(nodes_, std::string("slurmd ") + node,
                 {path_of("slurmd"), "-D", "-N", node, "-d", path_of("slurmstepd")});
  ready_ = wait_until_idle();
}

SlurmCluster::~SlurmCluster() {
  // Slurm's part of a step ends after its tasks, and not without the daemons.
  if (ready_) wait_until_idle();
  for (const std::string& name : nodes_) trial_.signal(name, SIGTERM);
  for (const std::string& name : nodes_) EXPECT_NE(trial_.finish(name, 20), -1) << name << " does not end";
  // The controller would take a second to save a state that nobody will read.
  for (const std::string& name : others_) {
    trial_.signal(name, SIGKILL);
    trial_.finish(name, 20);
  }
  shell("ip address delete 127.0.0.2/8 dev lo");
}

void SlurmCluster::start(const std::string& name, const Words& command) {
  Words words = command;
  words[0] = path_of(words[0]);
  auto environment = environment_;
  // A batch script calls srun by its name.
  environment["PATH"] = fs::path(words[0]).parent_path().string() + ":/usr/bin:/bin";
  trial_.start(name, words, environment);
}

void SlurmCluster::start_daemon(Words& among, const std::string& name, const Words& command) {
  trial_.start(name, command, environment_);
  among.push_back(name);
}

void SlurmCluster::wait_while(const std::string& name, const std::function<bool()>& condition) const {
  const double deadline = seconds_now() + 20;
  while (condition() && trial_.running(name) && seconds_now() < deadline) pause_ms(5);
}

void SlurmCluster::write_configuration() const {
  const std::string& here = folder_.path();
  chmod(here.c_str(), 0755);  // munge looks at who may reach its socket
  fs::create_directory(here + "/state");
  std::ofstream key(here + "/munge.key");
  for (std::random_device random; key.tellp() < 64;) key << random() << ' ';
  key.close();
  chmod((here + "/munge.key").c_str(), 0400);

  std::ofstream out(here + "/slurm.conf");
  out << "ClusterName=cresset\n"
      << "SlurmctldHost=localhost(127.0.0.1)\n"
      << "SlurmctldPort=" << kControllerPort << "\n"
      << "SlurmUser=root\n"
      << "SlurmdUser=root\n"
      << "AuthType=auth/munge\n"
      << "AuthInfo=socket=" << here << "/munge.socket\n"
      << "CredType=cred/munge\n"
      << "StateSaveLocation=" << here << "/state\n"
      << "SlurmdSpoolDir=" << here << "/spool.%n\n"
      << "SlurmctldPidFile=" << here << "/slurmctld.pid\n"
      << "SlurmdPidFile=" << here << "/slurmd.%n.pid\n"
      << "ProctrackType=proctrack/linuxproc\n"  // cgroups would need the machine's consent
      << "TaskPlugin=task/none\n"
      << "SelectType=select/linear\n"
      << "JobAcctGatherType=jobacct_gather/none\n"
      << "AccountingStorageType=accounting_storage/none\n"
      << "MpiDefault=none\n"
      << "MailProg=/bin/true\n"
      << "SlurmdParameters=config_overrides\n";  // four tasks a node, however few cores there are
  if (!plugins().empty()) out << "PluginDir=" << plugins() << "\n";
  int port = kNodePort;
  for (const char* node : kNodes)
    out << "NodeName=" << node << " NodeHostname=localhost NodeAddr=127.0.0.1 Port=" << port++ << " CPUs=4\n";
  out << "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n";
}

bool SlurmCluster::wait_until_idle() {
  const double deadline = seconds_now() + 30;
  while (seconds_now() < deadline) {
    const std::string name = "sinfo " + std::to_string(asked_++);
    start(name, {"sinfo", "--noheader", "--Node", "--format=%T"});
    trial_.finish(name, 10);
    if (trial_.output(name) == "idle\nidle\n") return true;
    pause_ms(50);
  }
  ADD_FAILURE() << "the nodes of the cluster are not there, or busy\n" << trial_.everything();
  return false;
}

}  // namespace faults
