// Text classification with a convolutional network: words become vectors, filters look at three of them at a time, and
// the strongest answer of each filter decides. Sentences about things people liked or not, "not" included, are
// generated here;
// --csv FILE takes a table with the columns `label` and `text`.
#include <cresset/cresset.h>

#include <cstdio>
#include <map>
#include <random>
#include <sstream>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;

struct Texts {
  std::vector<std::string> texts, classes;
  Tensor labels;
};

Texts generated(size_t count) {
  const std::vector<std::string> things = {"film", "soup", "book", "hotel", "concert", "bicycle"};
  const std::vector<std::string> good = {"lovely", "excellent", "charming", "delightful"};
  const std::vector<std::string> bad = {"dull", "awful", "broken", "disappointing"};
  const std::vector<std::string> rest = {"", "for the price", "said my aunt", "last week", "as everybody knows"};
  std::mt19937 random(1);
  auto one_of = [&](const std::vector<std::string>& list) { return list[random() % list.size()]; };
  Texts all{{}, {"negative", "positive"}, cresset::empty({static_cast<int64_t>(count)}, cresset::kLong)};
  for (size_t i = 0; i < count; i++) {
    const bool praise = random() % 2 == 0, negated = random() % 3 == 0;
    all.texts.push_back("the " + one_of(things) + (random() % 2 == 0 ? " was " : " is ") + (negated ? "not " : "") +
                        one_of(praise ? good : bad) + " " + one_of(rest));
    all.labels[static_cast<int64_t>(i)] = praise != negated ? 1 : 0;
  }
  return all;
}

Texts from_csv(const std::string& path) {
  auto table = cresset::io::read_csv(path);
  Texts all{{}, table.classes("label"), {}};
  all.labels = table.labels("label", all.classes);
  for (size_t row = 0; row < table.rows(); row++) all.texts.emplace_back(table.at(row, table.column("text")));
  return all;
}

// Words by number; 0 is the filling, 1 a word that is not known.
struct Words {
  std::map<std::string, int64_t> numbers;
  Tensor encode(const std::string& text, bool learn) {
    std::vector<int64_t> ids;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (learn) numbers.emplace(word, static_cast<int64_t>(numbers.size()) + 2);
      auto at = numbers.find(word);
      ids.push_back(at == numbers.end() ? 1 : at->second);
    }
    return cresset::tensor(ids, cresset::kLong);
  }
};

struct ClassifierImpl : nn::Module {
  ClassifierImpl(int64_t words, int64_t classes) {
    embedding = register_module("embedding", nn::Embedding(nn::EmbeddingOptions(words, 32).padding_idx(0)));
    conv = register_module("conv", nn::Conv1d(nn::Conv1dOptions(32, 64, 3).padding(1)));
    out = register_module("out", nn::Linear(64, classes));
  }
  Tensor forward(const Tensor& ids) {  // [batch, length]
    Tensor found = cresset::relu(conv(embedding(ids).transpose(1, 2)));
    return out(cresset::dropout(found.amax(2), 0.3, is_training()));
  }
  nn::Embedding embedding{nullptr};
  nn::Conv1d conv{nullptr};
  nn::Linear out{nullptr};
};
CRESSET_MODULE(Classifier);

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int epochs = arguments.number("--epochs", quick ? 4 : 6);
  cresset::manual_seed(1);

  Texts all = arguments.has("--csv") ? from_csv(arguments.text("--csv")) : generated(quick ? 1200 : 4000);
  const int64_t count = all.labels.size(0), train_count = count * 4 / 5;
  Words words;
  std::vector<Tensor> encoded;
  for (int64_t i = 0; i < count; i++)
    encoded.push_back(words.encode(all.texts[static_cast<size_t>(i)], i < train_count));
  Tensor padded = nn::utils::rnn::pad_sequence(encoded, /*batch_first=*/true);

  Classifier model(static_cast<int64_t>(words.numbers.size()) + 2, static_cast<int64_t>(all.classes.size()));
  cresset::optim::Adam optimizer(model->parameters(), 2e-3);
  std::printf("%ld texts, %zu words, %zu classes\n", static_cast<long>(count), words.numbers.size(),
              all.classes.size());
  double accuracy = 0;
  for (int epoch = 1; epoch <= epochs; epoch++) {
    model->train();
    double total = 0;
    auto batches = cresset::randperm(train_count).split(32);
    for (const Tensor& rows : batches) {
      optimizer.zero_grad();
      Tensor scores = model(padded.index_select(0, rows));
      Tensor loss = nn::functional::cross_entropy(scores, all.labels.index_select(0, rows));
      loss.backward();
      optimizer.step();
      total += loss.item<double>();
    }
    model->eval();
    cresset::NoGradGuard no_grad;
    Tensor guess = model(padded.slice(0, train_count)).argmax(1);
    accuracy = 100 * guess.eq(all.labels.slice(0, train_count)).to(cresset::kFloat).mean().item<double>();
    std::printf("epoch %2d   loss %.4f   test accuracy %.1f %%\n", epoch, total / static_cast<double>(batches.size()),
                accuracy);
  }

  cresset::NoGradGuard no_grad;
  for (const char* text : {"the soup was not awful", "the soup was awful", "the new hotel is lovely said my aunt"}) {
    Tensor chances = cresset::softmax(model(words.encode(text, false).unsqueeze(0))[0], 0);
    const int64_t best = chances.argmax().item<int64_t>();
    std::printf("  %-40s %s (%.0f %%)\n", text, all.classes[static_cast<size_t>(best)].c_str(),
                100 * chances[best].item<double>());
  }
  return accuracy > (arguments.has("--csv") ? 0 : quick ? 85 : 97) ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--csv FILE --epochs N --quick", example); }
