// Groups: how they begin and end, sub-groups, the queue, point to point, the recorder.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "cresset/cresset.h"
#include "cresset/distributed/distributed.h"
#include "tests/distributed/groups.h"
#include "tests/distributed/processes.h"

namespace cresset::distributed {
namespace {

using namespace cresset::testing;
using cresset::test::message_when;

TEST(Group, TwoRanksAddUp) {
  const auto outcome = run_ranks(2, [](int rank) {
    EXPECT_FALSE(is_initialized());
    init_process_group();
    EXPECT_TRUE(is_initialized());
    EXPECT_EQ(get_rank(), rank);
    EXPECT_EQ(get_world_size(), 2);
    EXPECT_EQ(get_backend(), "gloo");
    EXPECT_EQ(default_group()->name(), "default");
    Tensor x = full({3}, rank + 1.0f);
    all_reduce(x);
    EXPECT_EQ(x.tolist<float>(), std::vector<float>({3, 3, 3}));
    default_store()->set("key " + std::to_string(rank), "value");
    EXPECT_EQ(default_store()->get("key " + std::to_string(1 - rank)), "value");
    destroy_process_group();
    EXPECT_FALSE(is_initialized());
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Group, MeetsAtAnAddressAndInAFile) {
  const uint16_t port = cresset::testing::free_port();
  const std::string path = std::filesystem::temp_directory_path() / ("cresset_meet_" + std::to_string(getpid()));
  const auto outcome = run_ranks(3, [&](int rank) {
    for (const std::string& method : {"tcp://127.0.0.1:" + std::to_string(port), "file://" + path}) {
      InitOptions options;
      options.init_method = method;
      options.rank = rank;
      options.world_size = 3;
      options.token = "a secret";
      init_process_group(options);
      Tensor x = full({1}, 1.0f);
      all_reduce(x);
      EXPECT_EQ(x.item<float>(), 3);
      destroy_process_group();
    }
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
  std::filesystem::remove(path);
}

TEST(Group, CanBeMadeAgainAfterItWasDestroyed) {
  const auto outcome = run_ranks(3, [](int rank) {
    for (int round = 0; round < 4; round++) {
      // The ranks are not in step: the quick one meets at a store that the slow one still uses.
      if (rank == round % 3) std::this_thread::sleep_for(std::chrono::milliseconds(100));
      init_process_group();
      Tensor x = full({1}, static_cast<float>(rank + round));
      all_reduce(x);
      EXPECT_EQ(x.item<float>(), 3 + 3 * round);
      destroy_process_group();
    }
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

// Whoever is connected first and leaves at once must not close what the slower ones still wait for.
TEST(Group, BeginsWhenAllAreConnected) {
  const auto outcome = run_ranks(4, [](int own) {
    init_process_group();
    TcpStoreOptions options;
    options.port = static_cast<uint16_t>(std::atoi(std::getenv("MASTER_PORT")));
    std::vector<std::string> connected;  // the others; the own word may still be on its way
    for (int rank = 0; rank < 4; rank++)
      if (rank != own) connected.push_back("0/connected/default/" + std::to_string(rank));
    EXPECT_TRUE(TcpStore(options).check(connected));
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Group, NeedsNoDestroyAtTheEndOfMain) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    Tensor x = full({1}, 1.0f);
    all_reduce(x);
    // Those who are later still end well.
    std::this_thread::sleep_for(std::chrono::milliseconds(100 * rank));
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Group, SubGroupsHaveRanksAndNamesOfTheirOwn) {
  const auto outcome = run_ranks(4, [](int rank) {
    init_process_group();
    const Group even = new_group({2, 0}), odd = new_group({1, 3}), all = new_group();
    const Group mine = rank % 2 == 0 ? even : odd;
    const Group other = rank % 2 == 0 ? odd : even;
    EXPECT_EQ(get_rank(other), -1);
    EXPECT_EQ(get_world_size(other), -1);
    // Null would be the default group, where the tensor would meet another operation.
    const std::string refused = message_of("all_reduce: this process (rank ", rank, ") is no member of ",
                                           rank % 2 == 0 ? "group 2 (ranks 1, 3)" : "group 1 (ranks 0, 2)");
    EXPECT_EQ(message_when([&] { all_reduce(full({1}, 1.0f), other); }), refused);
    destroy_process_group(other);
    EXPECT_EQ(mine->name(), rank % 2 == 0 ? "group 1" : "group 2");
    EXPECT_EQ(get_rank(mine), rank / 2);
    EXPECT_EQ(get_world_size(mine), 2);
    EXPECT_EQ(mine->global_rank(1), rank % 2 == 0 ? 2 : 3);
    EXPECT_EQ(mine->rank_of(rank), rank / 2);
    EXPECT_EQ(mine->rank_of(rank ^ 1), -1);
    Tensor x = full({1}, rank + 1.0f);
    all_reduce(x, mine);
    EXPECT_EQ(x.item<float>(), rank % 2 == 0 ? 4 : 6);
    // Ranks are the world's in every call.
    broadcast(x, rank % 2 == 0 ? 2 : 3, mine);
    all_reduce(x, all);
    EXPECT_EQ(x.item<float>(), 20);
    EXPECT_EQ(message_when([&] { broadcast(x, rank ^ 1, mine); }),
              "broadcast: rank " + std::to_string(rank ^ 1) + " is not a member of " + mine->name());
    destroy_process_group(mine);
    EXPECT_EQ(message_when([&] { all_reduce(x, mine); }), "all_reduce: " + mine->name() + " was destroyed");
    all_reduce(x, all);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Group, TwoThreadsUseTwoGroupsAtOnce) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    const Group a = new_group(), b = new_group();
    const auto work = [&](const Group& group, float scale) {
      for (int i = 0; i < 200; i++) {
        Tensor x = full({i * 10 + 1}, scale * (rank + 1.0f));
        all_reduce(x, {ReduceOp::SUM, group, i % 3 == 0}).wait();
        if (x.min().item<float>() != scale * 6 || x.max().item<float>() != scale * 6) throw Error("wrong sum");
      }
    };
    std::thread other([&] { EXPECT_EQ(message_when([&] { work(b, 100); }), "no error"); });
    EXPECT_EQ(message_when([&] { work(a, 1); }), "no error");
    other.join();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Work, TenInFlightEndInOrderAndTellTheirCallbacks) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    std::vector<Tensor> tensors;
    std::vector<Work> works;
    std::vector<int> order;
    for (int i = 0; i < 10; i++) {
      tensors.push_back(full({20000 + i}, static_cast<float>(rank + i)));
      works.push_back(all_reduce(tensors.back(), CollectiveOptions::async()));
      works.back().then([&order, i](std::exception_ptr error) {
        if (!error) order.push_back(i);
      });
    }
    // A synchronous one queues up behind them.
    Tensor last = full({1}, 1.0f);
    all_reduce(last);
    EXPECT_EQ(last.item<float>(), 3);
    for (int i = 0; i < 10; i++) {
      EXPECT_TRUE(works[i].wait(std::chrono::seconds(20)));
      EXPECT_TRUE(works[i].is_completed());
      EXPECT_TRUE(works[i].is_success());
      EXPECT_EQ(works[i].exception(), nullptr);
      EXPECT_EQ(works[i].result().size(), 1u);
      EXPECT_EQ(tensors[i].min().item<float>(), 3 + 3 * i);
      EXPECT_EQ(tensors[i].max().item<float>(), 3 + 3 * i);
    }
    EXPECT_EQ(order, std::vector<int>({0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    bool told = false;
    works[0].then([&](std::exception_ptr error) { told = !error; });
    EXPECT_TRUE(told);
    // A handle that is dropped does not end the operation, nor does a tensor.
    all_reduce(full({50000}, 1.0f), CollectiveOptions::async());
    barrier();
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Work, AFutureHasTheResultOrTheError) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    const Tensor x = full({1000}, rank + 1.0f);
    const auto sum = all_reduce(x, CollectiveOptions::async()).get_future();  // the handle is gone already
    ASSERT_EQ(sum.get().size(), 1u);
    EXPECT_EQ(sum.get()[0].max().item<float>(), 3);
    const Tensor got = zeros({2});
    const Work message = rank == 0 ? isend(ones({3}), 1) : irecv(got, 0);
    EXPECT_NE(
        message_when([&] { message.get_future().get(); }).find("rank 0 sent float32[3], rank 1 expects float32[2]"),
        std::string::npos);
    EXPECT_EQ(Work().get_future().get().size(), 0u);
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

// The callback runs on the thread that carries operations out; waiting there for another would last for ever.
TEST(Work, WaitingInsideThenIsRefusedAndNothingHangs) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    const Tensor x = ones({10}), y = ones({10});
    for (const int waits : {0, 1}) {
      const std::string given = "given to " + std::to_string(waits);
      std::promise<std::string> told;
      if (rank == waits) {
        Work first = all_reduce(x, CollectiveOptions::async());
        first.then([&](std::exception_ptr) { told.set_value(message_when([&] { all_reduce(y); })); });
        tell(given);
        const std::string error = told.get_future().get();
        EXPECT_NE(error.find("Work::wait: called inside Work::then"), std::string::npos) << error;
      } else {
        wait_until(given);  // which the first does not end before
        all_reduce(x);
        all_reduce(y);
      }
      barrier();
    }
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Work, SaysWhenItIsNotDoneYet) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    if (rank == 1) wait_until("not done yet");
    Tensor x = full({10}, 1.0f);
    Work work = all_reduce(x, CollectiveOptions::async());
    if (rank == 0) {
      EXPECT_FALSE(work.wait(std::chrono::milliseconds(20)));
      EXPECT_FALSE(work.is_completed());
      EXPECT_FALSE(work.is_success());
      tell("not done yet");
    }
    work.wait();
    EXPECT_TRUE(Work().is_success());
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(PointToPoint, TagsSourcesAndOrder) {
  const auto outcome = run_ranks(3, [](int rank) {
    init_process_group();
    Tensor a = zeros({5}), b = zeros({3}, kInt64);
    if (rank == 0) {
      // Received in another order than they are sent, told apart by their tags.
      Work first = isend(full({5}, 1.5f), 1, 7), second = isend(full({3}, 2, TensorOptions(kInt64)), 1, 8);
      first.wait();
      second.wait();
      for (int i = 0; i < 20; i++) send(full({5}, static_cast<float>(i)), 1);
    } else if (rank == 1) {
      EXPECT_EQ(recv(b, 0, 8), 0);
      EXPECT_EQ(recv(a, 0, 7), 0);
      EXPECT_EQ(a[4].item<float>(), 1.5f);
      EXPECT_EQ(b[2].item<int64_t>(), 2);
      for (int i = 0; i < 20; i++) {
        recv(a, 0);
        EXPECT_EQ(a[0].item<float>(), i);
      }
    }
    barrier();
    // From whoever comes first.
    if (rank == 0) {
      std::vector<float> seen(3, 0);
      for (int i = 0; i < 4; i++) {
        const int from = recv(a, {}, 3);
        ASSERT_GT(from, 0);
        EXPECT_EQ(a[0].item<float>(), from * 10);
        seen[static_cast<size_t>(from)]++;
      }
      EXPECT_EQ(seen, std::vector<float>({0, 2, 2}));
    } else {
      for (int i = 0; i < 2; i++) send(full({5}, rank * 10.0f), 0, 3);
    }
    // A view, and a large message; receives that are posted first do not hold up a collective.
    Tensor big = zeros({2, 400000}), sum = full({1}, 1.0f);
    if (rank == 1) {
      Work work = irecv(big.select(0, 1), 2);
      all_reduce(sum);
      work.wait();
      EXPECT_EQ(work.source_rank(), 2);
      EXPECT_EQ(big.sum().item<float>(), 400000);
    } else {
      all_reduce(sum);
      if (rank == 2) send(full({400000}, 1.0f), 1);
    }
    EXPECT_EQ(sum.item<float>(), 3);
    // Everyone sends to everyone at once.
    std::vector<Work> works;
    std::vector<Tensor> received;
    for (int peer = 0; peer < 3; peer++) {
      if (peer == rank) continue;
      received.push_back(zeros({1000}));
      works.push_back(irecv(received.back(), peer, 5));
      works.push_back(isend(full({1000}, static_cast<float>(rank)), peer, 5));
    }
    for (Work& work : works) work.wait();
    EXPECT_EQ(received[0].mean().item<float>() + received[1].mean().item<float>(), 3 - rank);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(FlightRecorder, KeepsTheLastOperationsAndWritesThemOnASignal) {
  const auto folder = std::filesystem::temp_directory_path() / ("cresset_flight_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  const auto outcome = run_ranks(2, [&](int rank) {
    setenv("CRESSET_FLIGHT_RECORDER", "4", 1);
    setenv("CRESSET_FLIGHT_RECORDER_DIR", folder.c_str(), 1);
    init_process_group();
    for (int i = 1; i <= 6; i++) all_reduce(full({i}, 1.0f));
    broadcast(zeros({2}, kInt64), 1);
    FlightRecorder& recorder = default_group()->recorder();
    const auto entries = recorder.entries();
    ASSERT_EQ(entries.size(), 4u);
    EXPECT_EQ(entries[0].sequence, 4u);
    EXPECT_EQ(entries[0].description, "all_reduce(SUM) of float32[4]");
    EXPECT_EQ(entries[3].op, "broadcast");
    EXPECT_EQ(entries[3].description, "broadcast from rank 1 of int64[2]");
    for (const auto& entry : entries) {
      EXPECT_EQ(entry.state, FlightRecorder::State::done);
      EXPECT_LE(entry.queued, entry.started);
      EXPECT_LE(entry.started, entry.ended);
    }
    EXPECT_NE(recorder.json().find("\"description\": \"broadcast from rank 1 of int64[2]\""), std::string::npos);
    EXPECT_EQ(message_when([&] { recorder.dump("/nonexistent/file"); }),
              "FlightRecorder: cannot write /nonexistent/file: No such file or directory");
    raise(SIGUSR1);
    const auto file =
        folder / ("flight_default_rank" + std::to_string(rank) + "_" + std::to_string(getpid()) + ".json");
    for (int i = 0; i < 500 && !std::filesystem::exists(file); i++)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(std::filesystem::exists(file));
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
  std::filesystem::remove_all(folder);
}

// Whatever the main thread is in when the signal comes, a library's code that uses the stack pointer included.
TEST(FlightRecorder, IsAskedAThousandTimesDuringProducts) {
  const auto folder = std::filesystem::temp_directory_path() / ("cresset_asked_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  Processes processes(1, [&](int) {
    setenv("CRESSET_FLIGHT_RECORDER_DIR", folder.c_str(), 1);
    static_cast<void>(std::freopen("/dev/null", "w", stderr));  // a line for each file
    init_process_group();
    say("ready");
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(1000);
    for (int64_t n = 256; std::chrono::steady_clock::now() < end; n = n < 600 ? n + 43 : 256) {
      const Tensor x = ones({n, n});
      EXPECT_TRUE((mm(x, x.t()) == n).all().item<bool>());
    }
    destroy_process_group();
  });
  ASSERT_TRUE(processes.wait_for(0, "ready"));
  for (int i = 0; i < 1000; i++) {
    processes.signal(0, SIGUSR1);
    std::this_thread::sleep_for(std::chrono::microseconds(500));
  }
  const auto outcome = processes.wait(std::chrono::seconds(60));
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
  EXPECT_FALSE(std::filesystem::is_empty(folder));
  std::filesystem::remove_all(folder);
}

TEST(FlightRecorder, LeavesAHandlerOfTheProgramInPlace) {
  const auto outcome = run_ranks(1, [](int) {
    static bool called = false;
    signal(SIGUSR1, [](int) { called = true; });
    init_process_group();
    raise(SIGUSR1);
    EXPECT_TRUE(called);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

TEST(Fork, TheChildHasNoGroupAndCanMakeOne) {
  const auto outcome = run_ranks(2, [](int rank) {
    init_process_group();
    const Group group = default_group();
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0) {
      Tensor x = full({1}, 1.0f);
      const std::string refused = "all_reduce: this process was forked from process " + std::to_string(parent) +
                                  ", whose groups stay there (call init_process_group here)";
      bool good =
          message_when([&] { all_reduce(x); }) == refused && message_when([&] { all_reduce(x, group); }) == refused;
      InitOptions alone;
      alone.rank = 0;
      alone.world_size = 1;
      alone.store = std::make_shared<HashStore>();
      init_process_group(alone);
      all_reduce(x);
      destroy_process_group();
      std::exit(good ? 0 : 7);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(WEXITSTATUS(status), 0);
    // The parents' group is whole.
    Tensor x = full({1}, rank + 1.0f);
    all_reduce(x);
    EXPECT_EQ(x.item<float>(), 3);
    destroy_process_group();
  });
  EXPECT_TRUE(outcome.succeeded()) << outcome.summary();
}

}  // namespace
}  // namespace cresset::distributed
