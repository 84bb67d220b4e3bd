// Every store against the same expectations.
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <thread>

#include "cresset/distributed/file_store.h"
#include "cresset/distributed/hash_store.h"
#include "store_support.h"

namespace cresset::distributed {
namespace {

using namespace std::chrono_literals;

struct StoreKind {
  std::string name;
  std::function<std::shared_ptr<Store>(const std::string& folder)> make;
};

class StoreSuite : public ::testing::TestWithParam<StoreKind> {
 protected:
  TemporaryFolder folder_;
  std::shared_ptr<Store> store_ = GetParam().make(folder_.path());
};

TEST_P(StoreSuite, WhatIsSetCanBeRead) {
  store_->set("a", "1");
  store_->set("empty", "");
  store_->set("bytes", std::string_view("x\0y", 3));
  store_->set("a", "2");
  EXPECT_EQ(store_->get("a"), "2");
  EXPECT_EQ(store_->get("empty"), "");
  EXPECT_EQ(store_->get("bytes"), std::string("x\0y", 3));
  EXPECT_EQ(store_->try_get("a"), "2");
  EXPECT_EQ(store_->try_get("b"), std::nullopt);
  EXPECT_EQ(store_->num_keys(), 3);
}

TEST_P(StoreSuite, ALargeValueArrivesWhole) {
  std::string value(5'000'000, 'a');
  for (size_t i = 0; i < value.size(); ++i) value[i] = static_cast<char>(i * 7 / 3);
  store_->set("large", value);
  EXPECT_TRUE(store_->get("large") == value);
}

TEST_P(StoreSuite, AddCountsAndGetReadsIt) {
  EXPECT_EQ(store_->add("n", 3), 3);
  EXPECT_EQ(store_->add("n", -5), -2);
  EXPECT_EQ(store_->add("n", 0), -2);
  EXPECT_EQ(store_->get("n"), "-2");
}

TEST_P(StoreSuite, AddToATextNamesIt) {
  store_->set("t", "abc");
  EXPECT_THROW(store_->add("t", 1), ValueError);
  const std::string text = message_when([&] { store_->add("t", 1); });
  EXPECT_NE(text.find("add: key '"), std::string::npos) << text;
  EXPECT_NE(text.find("t' holds 'abc' (expected a whole number)"), std::string::npos) << text;
  store_->add("n", std::numeric_limits<int64_t>::max());
  EXPECT_THROW(store_->add("n", 1), ValueError);
  EXPECT_EQ(store_->add("n", -1), std::numeric_limits<int64_t>::max() - 1);
}

TEST_P(StoreSuite, CompareSetSaysWhatStandsThere) {
  EXPECT_EQ(store_->compare_set("k", "x", "y"), "");
  EXPECT_EQ(store_->compare_set("k", "", "first"), "first");
  EXPECT_EQ(store_->compare_set("k", "", "second"), "first");
  EXPECT_EQ(store_->compare_set("k", "first", "third"), "third");
  EXPECT_EQ(store_->get("k"), "third");
}

TEST_P(StoreSuite, CheckAndDelete) {
  store_->set("a", "");
  EXPECT_TRUE(store_->check({"a"}));
  EXPECT_TRUE(store_->check({}));
  EXPECT_FALSE(store_->check({"a", "b"}));
  EXPECT_TRUE(store_->delete_key("a"));
  EXPECT_FALSE(store_->delete_key("a"));
  EXPECT_FALSE(store_->check({"a"}));
}

TEST_P(StoreSuite, AWaitEndsAtItsDeadlineAndNamesTheKeys) {
  store_->set("here", "");
  EXPECT_THROW(store_->get("x", 20ms), DistributedError);
  const std::string one = message_when([&] { store_->get("x", 20ms); });
  EXPECT_NE(one.find("x' was not set within 20 ms ("), std::string::npos) << one;
  const std::string two = message_when([&] { store_->wait({"here", "y", "z"}, 20ms); });
  EXPECT_NE(two.find("y', '"), std::string::npos) << two;
  EXPECT_NE(two.find("z' were not set within 20 ms ("), std::string::npos) << two;
  EXPECT_EQ(two.find("here"), std::string::npos) << two;
  EXPECT_NE(two.find(store_->name()), std::string::npos) << two;
  EXPECT_THROW(store_->get("x", 0ms), DistributedError);
  EXPECT_THROW(store_->get("x", -5ms), DistributedError);
  store_->wait({"here"}, 0ms);
  store_->wait({}, 0ms);
}

TEST_P(StoreSuite, AWaitIsOverWhenTheLastKeyComes) {
  const auto other = store_->clone();
  std::thread setter([&] {
    std::this_thread::sleep_for(20ms);
    other->set("a", "1");
    other->set("b", "2");
  });
  store_->wait({"a", "b"}, 60s);
  EXPECT_EQ(store_->get("b", 60s), "2");
  setter.join();
}

TEST_P(StoreSuite, ChangesListsTheNewestOfEachKeyInOrder) {
  store_->set("p/a", "1");
  store_->set("q/a", "1");
  store_->set("p/b", "2");
  store_->set("p/a", "3");
  const Changes first = store_->changes("p/", 0, 0ms);
  const std::vector<std::pair<std::string, std::string>> wanted = {{"p/b", "2"}, {"p/a", "3"}};
  EXPECT_EQ(first.entries, wanted);
  const Changes none = store_->changes("p/", first.version, 20ms);
  EXPECT_TRUE(none.entries.empty());
  EXPECT_GE(none.version, first.version);
  store_->compare_set("p/a", "no", "4");
  EXPECT_TRUE(store_->changes("p/", none.version, 0ms).entries.empty());
  store_->compare_set("p/a", "3", "4");
  store_->add("p/n", 1);
  const Changes last = store_->changes("p/", none.version, 0ms);
  ASSERT_EQ(last.entries.size(), 2U);
  EXPECT_EQ(last.entries[1].second, "1");
}

TEST_P(StoreSuite, ChangesWakesWhenSomethingIsSet) {
  const uint64_t since = store_->changes("", 0, 0ms).version;
  const auto other = store_->clone();
  std::thread setter([&] {
    std::this_thread::sleep_for(20ms);
    other->set("noise", "");
    other->set("p/k", "v");
  });
  const Changes changes = store_->changes("p/", since, 60s);
  setter.join();
  ASSERT_EQ(changes.entries.size(), 1U);
  EXPECT_EQ(changes.entries[0].first, "p/k");
}

TEST_P(StoreSuite, ThreadsShareOneStore) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) {
        store_->add("sum", 1);
        store_->set("of" + std::to_string(t), std::to_string(i));
      }
    });
  }
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(store_->get("sum"), "200");
  EXPECT_EQ(store_->num_keys(), 5);
}

TEST_P(StoreSuite, AClonesTableIsTheSame) {
  store_->set_timeout(17s);
  auto copy = store_->clone();
  EXPECT_EQ(copy->timeout(), 17s);
  EXPECT_EQ(copy->name(), store_->name());
  copy->set("k", "v");
  EXPECT_EQ(store_->get("k"), "v");
  store_.reset();
  EXPECT_EQ(copy->get("k"), "v");  // also when the first is gone
}

TEST_P(StoreSuite, KeysAndValuesThatAreTooLongAreRefused) {
  const std::string key(5000, 'k');
  EXPECT_THROW(store_->set(key, ""), ValueError);
  EXPECT_THROW(store_->get(key, 0ms), ValueError);
  const std::string text = message_when([&] { store_->set("k", std::string((64 << 20) + 1, 'v')); });
  EXPECT_NE(text.find("k' has 67108865 bytes (expected at most 67108864)"), std::string::npos) << text;
  EXPECT_EQ(store_->num_keys(), 0);
}

const StoreKind kKinds[] = {
    {"Hash", [](const auto&) { return std::make_shared<HashStore>(30s); }},
    {"Tcp", [](const auto&) { return make_server(); }},
    {"File", [](const auto& folder) { return std::make_shared<FileStore>(folder + "/store", 0, 30s); }},
    {"PrefixHash", [](const auto&) { return std::make_shared<PrefixStore>("a", std::make_shared<HashStore>(30s)); }},
    {"PrefixTcp", [](const auto&) { return std::make_shared<PrefixStore>("a/b", make_server()); }},
};
INSTANTIATE_TEST_SUITE_P(Each, StoreSuite, ::testing::ValuesIn(kKinds),
                         [](const auto& info) { return info.param.name; });

TEST(PrefixStore, SeesOnlyItsOwnNames) {
  auto inner = std::make_shared<HashStore>();
  PrefixStore a("a", inner), b("b", inner);
  a.set("k", "of a");
  b.set("k", "of b");
  inner->set("k", "plain");
  EXPECT_EQ(a.get("k"), "of a");
  EXPECT_EQ(inner->get("b/k"), "of b");
  EXPECT_EQ(a.num_keys(), 1);
  const Changes changes = a.changes("", 0, 0ms);
  ASSERT_EQ(changes.entries.size(), 1U);
  EXPECT_EQ(changes.entries[0].first, "k");
  EXPECT_EQ(a.name(), "hash://");
  EXPECT_THROW(PrefixStore("a", nullptr), ValueError);
}

}  // namespace
}  // namespace cresset::distributed
