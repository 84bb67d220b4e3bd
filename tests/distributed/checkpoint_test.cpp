// Where several processes go on together: the newest step that all of them have, also when there are more of them now.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "cresset/distributed/checkpoint.h"
#include "ddp_support.h"

using namespace ddp_test;

namespace {

struct Folder {
  Folder() {
    char name[] = "/tmp/cresset-load-newest-XXXXXX";
    if (!mkdtemp(name)) throw cresset::Error("no temporary folder");
    path = name;
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::string of(int rank) const { return path + "/" + std::to_string(rank); }
  std::string path;
};

// Goes on from the newest checkpoint with rank's own folder, checks where that is, and saves further steps.
void go_on(const Folder& folder, int rank, std::optional<int64_t> wanted, std::vector<int64_t> saves) {
  Tensor weight = cresset::zeros({2});
  cresset::io::Checkpoint checkpoint(folder.of(rank));
  checkpoint.add("weight", weight);
  const std::optional<int64_t> step = dist::load_newest(checkpoint);
  REQUIRE(step == wanted);
  if (step) REQUIRE(weight[1].item<float>() == static_cast<float>(*step));
  for (const int64_t save : saves) {
    weight.fill_(static_cast<double>(save));
    checkpoint.save(save);
  }
}

}  // namespace

TEST(LoadNewest, AGrownWorldGoesOnFromTheOldRanksFiles) {
  Folder folder;
  run(2, [&](int rank) {
    cresset::manual_seed(static_cast<uint64_t>(7 + rank));
    go_on(folder, rank, std::nullopt, {10, 20});
  });
  run(5, [&](int rank) {
    go_on(folder, rank, 20, {});
    // The new ones draw other numbers than those whose files they took.
    std::vector<Tensor> drawn(5);
    for (Tensor& tensor : drawn) tensor = cresset::zeros({4});
    dist::all_gather(drawn, cresset::rand({4}));
    for (size_t i = 0; i < drawn.size(); i++)
      for (size_t j = 0; j < i; j++) REQUIRE(!same_bits(drawn[i], drawn[j]));
  });
}

TEST(LoadNewest, AWorldThatShrankAndGrewAgainTakesTheNewestNotTheLargest) {
  Folder folder;
  run(3, [&](int rank) { go_on(folder, rank, std::nullopt, {10}); });
  run(2, [&](int rank) { go_on(folder, rank, 10, {20, 30}); });
  // Rank 2 has step 10 of its own, from long ago.
  run(3, [&](int rank) { go_on(folder, rank, 30, {40}); });
  run(3, [&](int rank) { go_on(folder, rank, 40, {}); });
}

TEST(LoadNewest, ARankThatWasKilledBeforeItSavedIsNotNew) {
  Folder folder;
  run(3, [&](int rank) {
    go_on(folder, rank, std::nullopt, rank == 2 ? std::vector<int64_t>{} : std::vector<int64_t>{10});
  });
  run(3, [&](int rank) {
    go_on(folder, rank, std::nullopt, rank == 2 ? std::vector<int64_t>{10} : std::vector<int64_t>{10, 20});
  });
  run(3, [&](int rank) { go_on(folder, rank, 10, {}); });
}

TEST(LoadNewest, ACopyOfAnotherRanksFileIsPassedOver) {
  Folder folder;
  run(2, [&](int rank) {
    go_on(folder, rank, std::nullopt, rank == 0 ? std::vector<int64_t>{10, 40} : std::vector<int64_t>{10});
  });
  std::filesystem::copy(folder.of(0) + "/step-00000040.ckpt", folder.of(1));
  run(2, [&](int rank) { go_on(folder, rank, 10, {}); });
  // A world that grew still takes them: there the new rank knows whose file it takes.
  run(3, [&](int rank) { go_on(folder, rank, 10, {}); });
  // With nothing of its own the rank says so, and so do all.
  std::filesystem::remove(folder.of(1) + "/step-00000010.ckpt");
  for (const std::string& error : errors_of(2, [&](int rank) { go_on(folder, rank, 10, {}); })) {
    EXPECT_EQ(error.find("load_newest: " + folder.of(1) +
                         "/step-00000040.ckpt: found the checkpoint of rank 0 (expected rank 1's)"),
              0u)
        << error;
    EXPECT_NE(error.find("no other step is there on all 2 ranks"), std::string::npos) << error;
  }
}

TEST(LoadNewest, FilesInOneFolderForAllBelongToNobody) {
  Folder folder;
  run(2, [&](int rank) {
    go_on(folder, 0, std::nullopt, rank == 0 ? std::vector<int64_t>{10} : std::vector<int64_t>{});
    dist::barrier();
    go_on(folder, 0, 10, {});
  });
}

TEST(LoadNewest, AFileThatANewRankCannotReadIsAnErrorOnAll) {
  Folder folder, elsewhere;
  const auto errors = [&](int ranks, std::vector<int64_t> saves) {
    return errors_of(ranks, [&](int rank) {
      // As on another machine: the path of the others' files leads nowhere.
      std::filesystem::current_path(rank == 2 ? elsewhere.path : folder.path);
      Tensor weight = cresset::zeros({2});
      cresset::io::Checkpoint checkpoint("run/" + std::to_string(rank));
      checkpoint.add("weight", weight);
      dist::load_newest(checkpoint);
      for (const int64_t save : saves) checkpoint.save(save);
    });
  };
  for (const std::string& error : errors(2, {10})) EXPECT_EQ(error, "no error");
  for (const std::string& error : errors(3, {}))
    EXPECT_EQ(error.find("load_newest: rank 2 is new and cannot read another rank's file: "), 0u) << error;
}
