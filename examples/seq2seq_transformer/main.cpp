// Sequence to sequence with nn::Transformer, on two tasks: reversing a row of letters, and translating numbers into
// English words ("347" to "three hundred forty seven"). Padding masks, a causal mask for the decoder, and greedy
// decoding.
#include <cresset/cresset.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <random>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
using Words = std::vector<std::string>;

struct Vocabulary {
  std::map<std::string, int64_t> numbers;
  Words words;
  int64_t operator()(const std::string& word) {
    auto [at, fresh] = numbers.emplace(word, static_cast<int64_t>(words.size()));
    if (fresh) words.push_back(word);
    return at->second;
  }
};
constexpr int64_t kPad = 0, kBegin = 1, kEnd = 2;

// What a task is: a random pair of source and target.
using Task = std::pair<Words, Words> (*)(std::mt19937&);

std::pair<Words, Words> reversal(std::mt19937& random) {
  Words letters(3 + random() % 6);
  for (auto& letter : letters) letter = std::string(1, static_cast<char>('a' + random() % 8));
  return {letters, Words(letters.rbegin(), letters.rend())};
}

std::pair<Words, Words> translation(std::mt19937& random) {
  const char* const small[] = {"zero",     "one",     "two",     "three",     "four",     "five",    "six",
                               "seven",    "eight",   "nine",    "ten",       "eleven",   "twelve",  "thirteen",
                               "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"};
  const char* const tens[] = {"twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"};
  const unsigned number = random() % 1000, rest = number % 100;
  Words digits, words;
  for (char digit : std::to_string(number)) digits.emplace_back(1, digit);
  if (number >= 100) words = {small[number / 100], "hundred"};
  if (rest >= 20) words.emplace_back(tens[rest / 10 - 2]);
  if (rest >= 20 ? rest % 10 != 0 : rest != 0 || number == 0) words.emplace_back(small[rest >= 20 ? rest % 10 : rest]);
  return {digits, words};
}

struct TranslatorImpl : nn::Module {
  TranslatorImpl(int64_t words, int64_t width, int64_t layers) : width(width) {
    tokens = register_module("tokens", nn::Embedding(words, width));
    places = register_module("places", nn::Embedding(16, width));
    auto options = nn::TransformerOptions(width, 4, layers, layers).dim_feedforward(2 * width).dropout(0.0);
    transformer = register_module("transformer", nn::Transformer(options));
    out = register_module("out", nn::Linear(width, words));
  }
  // Source and target are [batch, length]; the Transformer takes [length, batch, width].
  Tensor forward(const Tensor& source, const Tensor& target) {
    auto embedded = [this](const Tensor& ids) {
      return (tokens(ids) + places(cresset::arange(ids.size(1), cresset::kLong))).transpose(0, 1);
    };
    Tensor causal = nn::TransformerImpl::generate_square_subsequent_mask(target.size(1)), padding = source.eq(kPad);
    Tensor y = transformer(embedded(source), embedded(target), Tensor(), causal, Tensor(), padding, Tensor(), padding);
    return out(y.transpose(0, 1));
  }
  int64_t width;
  nn::Embedding tokens{nullptr}, places{nullptr};
  nn::Transformer transformer{nullptr};
  nn::Linear out{nullptr};
};
CRESSET_MODULE(Translator);

// A batch of pairs, padded: sources, targets with begin and end.
std::pair<Tensor, Tensor> make_batch(Task task, int64_t count, Vocabulary& vocabulary, std::mt19937& random) {
  std::vector<Tensor> sources, targets;
  for (int64_t i = 0; i < count; i++) {
    auto [source, target] = task(random);
    std::vector<int64_t> from, to = {kBegin};
    for (auto& word : source) from.push_back(vocabulary(word));
    for (auto& word : target) to.push_back(vocabulary(word));
    to.push_back(kEnd);
    sources.push_back(cresset::tensor(from, cresset::kLong));
    targets.push_back(cresset::tensor(to, cresset::kLong));
  }
  return {nn::utils::rnn::pad_sequence(sources, true, kPad), nn::utils::rnn::pad_sequence(targets, true, kPad)};
}

// The likeliest word, again and again, until every row has ended.
Tensor decode(Translator& model, const Tensor& source) {
  Tensor target = cresset::full({source.size(0), 1}, kBegin, cresset::kLong);
  Tensor ended = cresset::zeros({source.size(0), 1}, cresset::kBool);
  for (int length = 1; length < 12 && !ended.all().item<bool>(); length++) {
    Tensor next = model(source, target).select(1, -1).argmax(-1, true).masked_fill(ended, kPad);
    target = cresset::cat({target, next}, 1);
    ended = ended.logical_or(next.eq(kEnd));
  }
  return target;
}

std::string text_of(const Tensor& ids, const Vocabulary& vocabulary) {
  std::string text;
  for (int64_t i = 0; i < ids.size(0); i++)
    if (int64_t id = ids[i].item<int64_t>(); id > kEnd) text += vocabulary.words[static_cast<size_t>(id)] + " ";
  return text;
}

double learn(const char* name, Task task, int steps, int64_t width) {
  Vocabulary vocabulary;
  for (const char* word : {"<pad>", "<begin>", "<end>"}) vocabulary(word);
  std::mt19937 random(1), unseen(2);
  make_batch(task, 2000, vocabulary, random);  // meets every word
  Translator model(static_cast<int64_t>(vocabulary.words.size()), width, 2);
  cresset::optim::Adam optimizer(model->parameters(), 2e-3);
  std::printf("%s: %zu words\n", name, vocabulary.words.size());
  for (int step = 1; step <= steps; step++) {
    auto [source, target] = make_batch(task, 64, vocabulary, random);
    const int64_t length = target.size(1) - 1;
    Tensor scores = model(source, target.narrow(1, 0, length)).flatten(0, 1);
    Tensor loss = nn::functional::cross_entropy(scores, target.narrow(1, 1, length).flatten(),
                                                nn::functional::CrossEntropyFuncOptions().ignore_index(kPad));
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    if (step % std::max(1, steps / 4) == 0) std::printf("  step %4d   loss %.4f\n", step, loss.item<double>());
    std::fflush(stdout);
  }

  cresset::NoGradGuard no_grad;
  model->eval();
  auto [source, target] = make_batch(task, 200, vocabulary, unseen);
  Tensor guess = decode(model, source);
  int right = 0;
  for (int64_t i = 0; i < source.size(0); i++) {
    const std::string wanted = text_of(target[i], vocabulary), found = text_of(guess[i], vocabulary);
    right += wanted == found ? 1 : 0;
    if (i < 4)
      std::printf("  %s-> %s%s\n", text_of(source[i], vocabulary).c_str(), found.c_str(),
                  wanted == found ? "" : "(wrong)");
  }
  std::printf("  %.1f %% of unseen sequences exactly right\n", right / 2.0);
  return right / 2.0;
}

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int steps = arguments.number("--steps", quick ? 150 : 500);
  cresset::manual_seed(1);
  const double reversed = learn("reversal", reversal, steps, quick ? 32 : 64);
  const double translated = learn("numbers to words", translation, steps, quick ? 32 : 64);
  return reversed > (quick ? 5 : 90) && translated > (quick ? 20 : 90) ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--steps N --quick", example); }
