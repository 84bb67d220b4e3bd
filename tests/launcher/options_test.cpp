// The command line: both spellings, torchrun's forms, and what a wrong value is told.
#include "tools/run/options.h"

#include "runs.h"

namespace cresset::test {
namespace {

using run::Options;
using run::parse_options;
using run::UsageError;

std::string complaint(const std::vector<std::string>& arguments) {
  try {
    parse_options(arguments);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "no error";
}

TEST(LauncherOptions, HaveTwoSpellingsAndTwoForms) {
  const std::vector<std::vector<std::string>> spellings = {{"--nproc-per-node", "3", "--max-restarts", "2", "x"},
                                                           {"--nproc_per_node=3", "--max_restarts=2", "x"}};
  for (const auto& spelling : spellings) {
    const Options options = parse_options(spelling);
    EXPECT_EQ(options.workers, 3);
    EXPECT_EQ(options.max_restarts, 2);
    EXPECT_EQ(options.program, "x");
  }
}

TEST(LauncherOptions, WhatComesAfterTheProgramIsTheProgramsOwn) {
  const Options options = parse_options({"--nproc-per-node=2", "train", "--nproc-per-node", "--help", "--x_y"});
  EXPECT_EQ(options.workers, 2);
  EXPECT_EQ(options.arguments, (std::vector<std::string>{"--nproc-per-node", "--help", "--x_y"}));
  EXPECT_EQ(parse_options({"--", "-x"}).program, "-x");
}

TEST(LauncherOptions, NodesAndEndpoint) {
  const Options elastic = parse_options({"--nnodes=2:4", "--rdzv-endpoint", "[::1]:29400", "x"});
  EXPECT_EQ(elastic.min_nodes, 2);
  EXPECT_EQ(elastic.max_nodes, 4);
  EXPECT_EQ(elastic.host, "::1");
  EXPECT_EQ(elastic.port, 29400);
  const Options master =
      parse_options({"--nnodes", "2", "--node-rank", "1", "--master-addr", "a", "--master-port", "5", "x"});
  EXPECT_EQ(master.host, "a");
  EXPECT_EQ(master.port, 5);
  EXPECT_EQ(master.node_rank, 1);
  EXPECT_EQ(parse_options({"--rdzv-backend", "c10d", "x"}).notes.size(), 1u);
}

TEST(LauncherOptions, WrongOnesAreToldWhatWasExpected) {
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{}, "the program is missing (expected cresset-run [OPTIONS] PROGRAM [ARGS])"},
      {{"--nprocs", "2", "x"}, "there is no option --nprocs"},
      {{"-n", "2", "x"}, "there is no option -n"},
      {{"--nproc-per-node"}, "--nproc-per-node needs a value"},
      {{"--nproc-per-node="}, "--nproc-per-node needs a value"},
      {{"--nproc-per-node", "0", "x"},
       "--nproc-per-node: found '0' (expected a number from 1 to 4096, auto, cpu or gpu)"},
      {{"--nproc-per-node", "2x", "x"},
       "--nproc-per-node: found '2x' (expected a number from 1 to 4096, auto, cpu or gpu)"},
      {{"--nnodes", "3:2", "x"}, "--nnodes: found '3:2' (expected MIN:MAX with MIN not above MAX)"},
      {{"--nnodes", "two", "x"}, "--nnodes: found 'two' (expected a number of nodes, or MIN:MAX)"},
      {{"--nnodes", "2", "x"},
       "--nnodes: found 2 nodes, which must know where to meet (expected --rdzv-endpoint HOST:PORT of the first node)"},
      {{"--nnodes", "2", "--standalone", "x"}, "--standalone is for one node, but --nnodes is up to 2"},
      {{"--rdzv-endpoint", "host", "x"},
       "--rdzv-endpoint: found 'host' (expected HOST:PORT, such as node0:29400 or [::1]:29400)"},
      {{"--rdzv-endpoint", "h:99999", "x"},
       "--rdzv-endpoint: found 'h:99999' (expected HOST:PORT, such as node0:29400 or [::1]:29400)"},
      {{"--rdzv-backend", "etcd", "x"},
       "--rdzv-backend: found 'etcd' (expected c10d or static; Cresset's own store serves for both)"},
      {{"--node-rank", "1", "x"}, "--node-rank: found 1 (expected less than --nnodes, 1)"},
      {{"--max-restarts", "-1", "x"}, "--max-restarts: found '-1' (expected a number from 0)"},
      {{"--stop-grace", "soon", "x"}, "--stop-grace: found 'soon' (expected a number of seconds)"},
      {{"--stop-grace", "nan", "x"}, "--stop-grace: found 'nan' (expected a number of seconds)"},
      {{"--tee", "3", "x"}, "--tee says what is shown beside the log files (expected --log-dir with it)"},
      {{"--log-dir", "d", "--tee", "7", "x"},
       "--tee: found '7' (expected 0 for none, 1 for stdout, 2 for stderr, 3 or all for both)"},
      {{"--token-file", "/no/such", "x"},
       "--token-file: found no token in '/no/such' (expected a file whose first line is the token)"},
      {{"--standalone=1", "x"}, "--standalone takes no value"},
      {{"--rdzv-id", "a/b", "x"}, "--rdzv-id: found 'a/b' (expected a name without slashes)"},
  };
  for (const auto& [arguments, text] : cases) EXPECT_EQ(complaint(arguments), text);
}

TEST(LauncherOptions, AWrongOneEndsTheProgramWithTwo) {
  const Result wrong = test::run({"--nproc-per-node", "many", "true"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_EQ(wrong.out, "");
  EXPECT_EQ(lines_of(wrong.err).size(), 2u) << wrong.err;
  const Result help = test::run({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(count(help.out, "usage: cresset-run"), 1);
  EXPECT_EQ(test::run({"--version"}).out.substr(0, 12), "cresset-run ");
  const Result log = test::run({"--log-dir", "/proc/no", "true"});
  EXPECT_EQ(log.status, 1);
  EXPECT_EQ(count(log.err, "--log-dir: '/proc/no/"), 1) << log.err;
  EXPECT_EQ(count(log.err, "logs:"), 0) << log.err;  // there are none
}

}  // namespace
}  // namespace cresset::test
