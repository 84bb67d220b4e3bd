// A character-level GPT: learns to continue a text one character at a time, then writes some of its own. Any text file
// with
// --text; without, a built-in paragraph that it comes to know by heart.
#include <cresset/cresset.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "arguments.h"

using cresset::Tensor;
namespace nn = cresset::nn;
namespace data = cresset::data;

const char* const kParagraph =
    "A cresset is an iron basket on a pole or a wall, filled with pitch and rope and set alight. Before there were "
    "lamps in "
    "the streets it burned at the gate of the town, at the door of the inn and at the end of the pier. The keeper came "
    "at "
    "dusk with a ladder and a bucket, and came again before midnight, because a cresset that is not fed goes out. "
    "Those who "
    "walked home late knew every one of them by its place: the bright one at the bridge, the crooked one by the mill, "
    "the one "
    "at the harbour that hissed when the spray went over it. By their light one could read a face, but not a letter.\n";

// Attention over what came before, then a small network for each position, each added to what goes through.
struct BlockImpl : nn::Module {
  BlockImpl(int64_t width, int64_t heads) : heads(heads) {
    norm1 = register_module("norm1", nn::LayerNorm(nn::LayerNormOptions({width})));
    norm2 = register_module("norm2", nn::LayerNorm(nn::LayerNormOptions({width})));
    qkv = register_module("qkv", nn::Linear(width, 3 * width));
    out = register_module("out", nn::Linear(width, width));
    mlp =
        register_module("mlp", nn::Sequential(nn::Linear(width, 4 * width), nn::GELU(), nn::Linear(4 * width, width)));
  }
  Tensor forward(Tensor x) {
    const int64_t batch = x.size(0), time = x.size(1), width = x.size(2);
    auto part = qkv(norm1(x)).view({batch, time, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).unbind(0);
    Tensor mixed = cresset::scaled_dot_product_attention(part[0], part[1], part[2], {}, 0.0, /*is_causal=*/true);
    x = x + out(mixed.transpose(1, 2).reshape({batch, time, width}));
    return x + mlp->forward(norm2(x));
  }
  int64_t heads;
  nn::LayerNorm norm1{nullptr}, norm2{nullptr};
  nn::Linear qkv{nullptr}, out{nullptr};
  nn::Sequential mlp{nullptr};
};
CRESSET_MODULE(Block);

struct GptImpl : nn::Module {
  GptImpl(int64_t vocabulary, int64_t context, int64_t width, int64_t heads, int64_t layers) : context(context) {
    tokens = register_module("tokens", nn::Embedding(vocabulary, width));
    places = register_module("places", nn::Embedding(context, width));
    blocks = register_module("blocks", nn::Sequential());
    for (int64_t i = 0; i < layers; i++) blocks->push_back(Block(width, heads));
    norm = register_module("norm", nn::LayerNorm(nn::LayerNormOptions({width})));
    head = register_module("head", nn::Linear(width, vocabulary));
  }
  Tensor forward(const Tensor& ids) {
    Tensor x = tokens(ids) + places(cresset::arange(ids.size(1), cresset::kLong));
    return head(norm(blocks->forward(x)));
  }
  int64_t context;
  nn::Embedding tokens{nullptr}, places{nullptr};
  nn::Sequential blocks{nullptr};
  nn::LayerNorm norm{nullptr};
  nn::Linear head{nullptr};
};
CRESSET_MODULE(Gpt);

// Continues the text: the next character is drawn from what the model expects, sharpened by the temperature.
std::string write(Gpt& model, const data::CharTokenizer& tokenizer, const std::string& start, int count,
                  double temperature) {
  cresset::NoGradGuard no_grad;
  std::vector<int64_t> ids = tokenizer.encode(start);
  for (int i = 0; i < count; i++) {
    Tensor all = data::ids_tensor(ids),
           seen = all.slice(0, std::max<int64_t>(0, all.size(0) - model->context)).unsqueeze(0);
    Tensor chances = cresset::softmax(model(seen)[0][-1] / temperature, -1);
    ids.push_back(cresset::multinomial(chances, 1).item<int64_t>());
  }
  return tokenizer.decode(ids);
}

int example(const Arguments& arguments) {
  const bool quick = arguments.has("--quick");
  const int steps = arguments.number("--steps", quick ? 150 : 400);
  const size_t batch = quick ? 8 : 32;
  cresset::manual_seed(1);

  const std::string file = arguments.text("--text");
  const std::string text = file.empty() ? kParagraph : data::datasets::read_text(file);
  data::CharTokenizer tokenizer(text);
  const int64_t vocabulary = static_cast<int64_t>(tokenizer.vocab_size()), context = 64;
  std::printf("%zu characters, %ld of them different\n", text.size(), static_cast<long>(vocabulary));

  Gpt model(vocabulary, context, quick ? 48 : 128, 4, quick ? 2 : 4);
  cresset::optim::AdamW optimizer(model->parameters(), cresset::optim::AdamWOptions(3e-3).weight_decay(0.01));
  cresset::optim::CosineAnnealingLR schedule(optimizer, steps);
  // Pieces from random places; the target of each character is the one after it.
  data::datasets::TextDataset pieces(data::ids_tensor(tokenizer.encode(text)), context);
  data::samplers::RandomSampler sampler(static_cast<int64_t>(*pieces.size()));
  sampler.replacement(true).num_samples(static_cast<size_t>(steps) * batch);
  auto loader = data::make_data_loader(pieces.map(data::transforms::Stack<>()), sampler, batch);

  double loss_mean = std::log(static_cast<double>(vocabulary));  // what guessing costs
  int step = 0;
  for (auto& piece : *loader) {
    Tensor scores = model(piece.data).flatten(0, 1);
    Tensor loss = nn::functional::cross_entropy(scores, piece.target.flatten());
    optimizer.zero_grad();
    loss.backward();
    nn::utils::clip_grad_norm_(model->parameters(), 1.0);
    optimizer.step();
    schedule.step();
    loss_mean += 0.05 * (loss.item<double>() - loss_mean);
    if (++step % std::max(1, steps / 5) == 0) std::printf("step %4d   loss %.3f\n", step, loss_mean);
    std::fflush(stdout);
  }
  std::printf("\n%s\n", write(model, tokenizer, text.substr(0, 2), quick ? 100 : 400, 0.7).c_str());
  return loss_mean < (quick || arguments.has("--text") ? 2.4 : 0.5) ? 0 : 1;
}

int main(int argc, char** argv) { return run_example(argc, argv, "--text FILE --steps N --quick", example); }
