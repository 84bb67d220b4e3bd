// One line for each layer, in the order and with the arguments of layers_reference.py.
#include "layers_table.h"

namespace cresset::testing {
namespace {

using namespace cresset::nn;
namespace F = cresset::nn::functional;

std::vector<Tensor> as_list(const Tensor& y) { return {y}; }
std::vector<Tensor> as_list(const ASMoutput& y) { return {y.output, -y.output.mean()}; }

// A holder's forward, with as many arguments as it takes.
template <class Holder>
BuiltLayer of(Holder holder) {
  using Impl = typename Holder::ContainedType;
  return {holder.ptr(), [](Module& module, const std::vector<Tensor>& x) {
            auto& layer = dynamic_cast<Impl&>(module);
            if constexpr (requires { layer.forward(x[0], x[1], x[2], x[3]); })
              return as_list(layer.forward(x[0], x[1], x[2], x[3]));
            else if constexpr (
                requires { layer.forward(x[0], x[1], x[2]); } && !requires { layer.forward(x[0]); })
              return as_list(layer.forward(x[0], x[1], x[2]));
            else if constexpr (
                requires { layer.forward(x[0], x[1]); } && !requires { layer.forward(x[0]); })
              return as_list(layer.forward(x[0], x[1]));
            else
              return as_list(layer.forward(x[0]));
          }};
}
BuiltLayer bag(EmbeddingBag holder) {
  return {holder.ptr(), [](Module& module, const std::vector<Tensor>& x) {
            auto& layer = dynamic_cast<EmbeddingBagImpl&>(module);
            return as_list(layer.forward(x[0], x.size() > 1 ? x[1] : Tensor(), x.size() > 2 ? x[2] : Tensor()));
          }};
}
Tensor weights() { return tensor({0.5, 1.5, 1.0, 2.0, 0.7}, kDouble); }

// The random samples are a buffer, whose values PyTorch's file brings.
template <class Holder, class Options>
BuiltLayer fractional(Options options) {
  return of(Holder(options._random_samples(zeros({2, 4, static_cast<int64_t>(options.kernel_size().size())}))));
}
BuiltLayer transposed_to_size() {
  ConvTranspose2d holder(ConvTranspose2dOptions(4, 6, 3).stride(2));
  return {holder.ptr(), [](Module& module, const std::vector<Tensor>& x) {
            const int64_t size[] = {16, 14};
            return as_list(dynamic_cast<ConvTranspose2dImpl&>(module).forward(x[0], IntArrayRef(size)));
          }};
}
BuiltLayer unpool_to_size() {
  return {MaxUnpool2d(2).ptr(), [](Module& module, const std::vector<Tensor>& x) {
            return as_list(dynamic_cast<MaxUnpool2dImpl&>(module).forward(x[0], x[1], std::vector<int64_t>{7, 5}));
          }};
}
BuiltLayer adaptive(bool head_bias, int64_t cutoff, const char* method) {
  AdaptiveLogSoftmaxWithLoss holder(
      AdaptiveLogSoftmaxWithLossOptions(8, 20, {cutoff, 10}).div_value(2.0).head_bias(head_bias));
  return {holder.ptr(), [method = std::string(method)](Module& module, const std::vector<Tensor>& x) {
            auto& layer = dynamic_cast<AdaptiveLogSoftmaxWithLossImpl&>(module);
            if (method == "log_prob") return as_list(layer.log_prob(x[0]));
            if (method == "predict") return as_list(layer.predict(x[0]));
            return as_list(layer.forward(x[0], x[1]));
          }};
}
BuiltLayer ctc(CTCLossOptions options) {
  return {CTCLoss(options).ptr(), [](Module& module, const std::vector<Tensor>& x) {
            return as_list(dynamic_cast<CTCLossImpl&>(module).forward(log_softmax(x[0], 2), x[1], x[2], x[3]));
          }};
}

std::vector<LayerCase> made() {
  std::vector<LayerCase> list;
#define ADD(name, layer) list.push_back({name, [] { return layer; }})
  ADD("Identity", of(Identity()));
  ADD("Linear", of(Linear(5, 3)));
  ADD("Linear no bias", of(Linear(LinearOptions(5, 3).bias(false))));
  ADD("Bilinear", of(Bilinear(4, 3, 5)));
  ADD("Bilinear no bias", of(Bilinear(BilinearOptions(4, 3, 5).bias(false))));
  ADD("Flatten", of(Flatten()));
  ADD("Flatten some", of(Flatten(FlattenOptions().start_dim(0).end_dim(2))));
  ADD("Unflatten", of(Unflatten(UnflattenOptions(1, {2, 2}))));
  // convolutions
  ADD("Conv1d", of(Conv1d(4, 6, 3)));
  ADD("Conv1d same", of(Conv1d(Conv1dOptions(4, 6, 4).padding(kSame).dilation(2))));
  ADD("Conv1d replicate", of(Conv1d(Conv1dOptions(4, 6, 3).padding(2).padding_mode(kReplicate))));
  ADD("Conv2d", of(Conv2d(Conv2dOptions(4, 6, 3))));
  ADD("Conv2d options",
      of(Conv2d(Conv2dOptions(4, 6, {3, 2}).stride({2, 1}).padding({1, 2}).dilation({1, 2}).groups(2).bias(false))));
  ADD("Conv2d valid", of(Conv2d(Conv2dOptions(4, 6, 3).padding(kValid))));
  ADD("Conv2d reflect", of(Conv2d(Conv2dOptions(4, 6, 3).padding({2, 1}).padding_mode(kReflect))));
  ADD("Conv2d circular same", of(Conv2d(Conv2dOptions(4, 6, {4, 3}).padding(kSame).padding_mode(kCircular))));
  ADD("Conv2d one image", of(Conv2d(Conv2dOptions(4, 6, 3).padding(1))));
  ADD("Conv3d", of(Conv3d(Conv3dOptions(4, 2, 3).padding(1).stride(2))));
  ADD("Conv3d circular", of(Conv3d(Conv3dOptions(4, 2, 2).padding({1, 0, 1}).padding_mode(kCircular))));
  ADD("ConvTranspose1d", of(ConvTranspose1d(ConvTranspose1dOptions(4, 6, 3).stride(2).padding(1).output_padding(1))));
  ADD("ConvTranspose2d",
      of(ConvTranspose2d(
          ConvTranspose2dOptions(4, 6, {3, 2}).stride(2).padding(1).groups(2).dilation({2, 1}).bias(false))));
  ADD("ConvTranspose2d output_size", transposed_to_size());
  ADD("ConvTranspose3d", of(ConvTranspose3d(ConvTranspose3dOptions(4, 2, 2).stride(2))));
  // pools
  ADD("AvgPool1d", of(AvgPool1d(AvgPool1dOptions(3).stride(2).padding(1).count_include_pad(false))));
  ADD("AvgPool2d", of(AvgPool2d(AvgPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0}).ceil_mode(true))));
  ADD("AvgPool2d divisor", of(AvgPool2d(AvgPool2dOptions(2).divisor_override(3))));
  ADD("AvgPool3d", of(AvgPool3d(AvgPool3dOptions(2).stride(1))));
  ADD("MaxPool1d", of(MaxPool1d(MaxPool1dOptions(3).stride(2).padding(1))));
  ADD("MaxPool2d", of(MaxPool2d(2)));
  ADD("MaxPool2d options",
      of(MaxPool2d(MaxPool2dOptions({3, 2}).stride({2, 1}).padding({1, 0}).dilation({1, 2}).ceil_mode(true))));
  ADD("MaxPool3d", of(MaxPool3d(MaxPool3dOptions(2).stride({1, 2, 1}))));
  ADD("AdaptiveAvgPool1d", of(AdaptiveAvgPool1d(4)));
  ADD("AdaptiveAvgPool2d", of(AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({std::nullopt, 4}))));
  ADD("AdaptiveAvgPool3d", of(AdaptiveAvgPool3d(AdaptiveAvgPool3dOptions(2))));
  ADD("AdaptiveMaxPool1d", of(AdaptiveMaxPool1d(AdaptiveMaxPool1dOptions(4))));
  ADD("AdaptiveMaxPool2d", of(AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({3, std::nullopt}))));
  ADD("AdaptiveMaxPool3d", of(AdaptiveMaxPool3d(AdaptiveMaxPool3dOptions({2, 3, 1}))));
  ADD("MaxUnpool1d", of(MaxUnpool1d(2)));
  ADD("MaxUnpool2d", of(MaxUnpool2d(MaxUnpool2dOptions(2).stride(2))));
  ADD("MaxUnpool2d output_size", unpool_to_size());
  ADD("MaxUnpool3d", of(MaxUnpool3d(2)));
  ADD("LPPool1d", of(LPPool1d(LPPool1dOptions(2.0, 3).stride(2))));
  ADD("LPPool2d", of(LPPool2d(LPPool2dOptions(3.0, {3, 2}).stride(1).ceil_mode(true))));
  ADD("LPPool3d", of(LPPool3d(2.0, 2)));
  ADD("FractionalMaxPool2d",
      fractional<FractionalMaxPool2d>(FractionalMaxPool2dOptions(2).output_size(ExpandingArray<2>({4, 3}))));
  ADD("FractionalMaxPool2d ratio",
      fractional<FractionalMaxPool2d>(FractionalMaxPool2dOptions({3, 2}).output_ratio(ExpandingArray<2, double>(0.6))));
  ADD("FractionalMaxPool3d",
      fractional<FractionalMaxPool3d>(FractionalMaxPool3dOptions(2).output_size(ExpandingArray<3>({3, 4, 2}))));
  // norms
  ADD("BatchNorm1d", of(BatchNorm1d(5)));
  ADD("BatchNorm1d 3d", of(BatchNorm1d(BatchNorm1dOptions(4).eps(1e-3).momentum(0.3))));
  ADD("BatchNorm1d cumulative", of(BatchNorm1d(BatchNorm1dOptions(5).momentum(std::nullopt))));
  ADD("BatchNorm2d", of(BatchNorm2d(4)));
  ADD("BatchNorm2d plain", of(BatchNorm2d(BatchNorm2dOptions(4).affine(false))));
  ADD("BatchNorm2d untracked", of(BatchNorm2d(BatchNorm2dOptions(4).track_running_stats(false))));
  ADD("BatchNorm3d", of(BatchNorm3d(4)));
  ADD("SyncBatchNorm", of(SyncBatchNorm(4)));
  ADD("InstanceNorm1d", of(InstanceNorm1d(4)));
  ADD("InstanceNorm1d one", of(InstanceNorm1d(InstanceNorm1dOptions(4))));
  ADD("InstanceNorm2d", of(InstanceNorm2d(InstanceNorm2dOptions(4).affine(true).track_running_stats(true))));
  ADD("InstanceNorm3d", of(InstanceNorm3d(InstanceNorm3dOptions(4).affine(true))));
  ADD("LayerNorm", of(LayerNorm(LayerNormOptions({6}))));
  ADD("LayerNorm 2d", of(LayerNorm(LayerNormOptions({7, 6}).eps(1e-3))));
  ADD("LayerNorm plain", of(LayerNorm(LayerNormOptions({6}).elementwise_affine(false))));
  ADD("RMSNorm", of(RMSNorm(RMSNormOptions({6}).eps(1e-6))));
  ADD("RMSNorm 2d", of(RMSNorm(RMSNormOptions({7, 6}).eps(1e-6))));
  ADD("GroupNorm", of(GroupNorm(2, 4)));
  ADD("GroupNorm plain", of(GroupNorm(GroupNormOptions(4, 4).affine(false))));
  ADD("LocalResponseNorm", of(LocalResponseNorm(LocalResponseNormOptions(3).alpha(0.1).beta(0.5).k(2.0))));
  ADD("LocalResponseNorm even", of(LocalResponseNorm(LocalResponseNormOptions(2).alpha(0.1))));
  ADD("CrossMapLRN2d", of(CrossMapLRN2d(CrossMapLRN2dOptions(3).alpha(0.1).beta(0.5).k(2.0))));
  ADD("CrossMapLRN2d even", of(CrossMapLRN2d(CrossMapLRN2dOptions(4).alpha(0.1).beta(0.5))));
  // padding
  ADD("ReflectionPad1d", of(ReflectionPad1d(ReflectionPad1dOptions({2, 1}))));
  ADD("ReflectionPad2d", of(ReflectionPad2d(ReflectionPad2dOptions({1, 2, 3, 0}))));
  ADD("ReflectionPad3d", of(ReflectionPad3d(1)));
  ADD("ReplicationPad1d", of(ReplicationPad1d(ReplicationPad1dOptions({2, 1}))));
  ADD("ReplicationPad2d", of(ReplicationPad2d(2)));
  ADD("ReplicationPad3d", of(ReplicationPad3d(ReplicationPad3dOptions({1, 2, 0, 1, 2, 1}))));
  ADD("ZeroPad1d", of(ZeroPad1d(ZeroPad1dOptions({1, 2}))));
  ADD("ZeroPad2d", of(ZeroPad2d(ZeroPad2dOptions({1, 2, -1, 0}))));
  ADD("ZeroPad3d", of(ZeroPad3d(1)));
  ADD("ConstantPad1d", of(ConstantPad1d(2, 3.5)));
  ADD("ConstantPad2d", of(ConstantPad2d(ConstantPad2dOptions({1, 2, 3, 0}, -1.25))));
  ADD("ConstantPad3d", of(ConstantPad3d(1, 0.5)));
  ADD("CircularPad1d", of(CircularPad1d(CircularPad1dOptions({2, 1}))));
  ADD("CircularPad2d", of(CircularPad2d(CircularPad2dOptions({1, 2, 3, 0}))));
  ADD("CircularPad3d", of(CircularPad3d(1)));
  // dropout
  ADD("Dropout", of(Dropout(0.3)));
  ADD("Dropout1d", of(Dropout1d(0.3)));
  ADD("Dropout2d", of(Dropout2d(0.3)));
  ADD("Dropout3d", of(Dropout3d(0.3)));
  ADD("AlphaDropout", of(AlphaDropout(0.3)));
  ADD("FeatureAlphaDropout", of(FeatureAlphaDropout(FeatureAlphaDropoutOptions(0.3).inplace(true))));
  // embeddings
  ADD("Embedding", of(Embedding(7, 3)));
  ADD("Embedding padding", of(Embedding(EmbeddingOptions(7, 3).padding_idx(-2))));
  ADD("Embedding max_norm", of(Embedding(EmbeddingOptions(7, 3).max_norm(0.8).norm_type(1.0))));
  ADD("Embedding by frequency", of(Embedding(EmbeddingOptions(7, 3).scale_grad_by_freq(true))));
  ADD("EmbeddingBag", bag(EmbeddingBag(7, 3)));
  ADD("EmbeddingBag sum", bag(EmbeddingBag(EmbeddingBagOptions(7, 3).mode(kSum).padding_idx(1))));
  ADD("EmbeddingBag weighted", bag(EmbeddingBag(EmbeddingBagOptions(7, 3).mode(kSum))));
  ADD("EmbeddingBag max", bag(EmbeddingBag(EmbeddingBagOptions(7, 3).mode(kMax).include_last_offset(true))));
  // activations
  ADD("ELU", of(ELU(ELUOptions().alpha(0.7))));
  ADD("ELU in place", of(ELU(ELUOptions().inplace(true))));
  ADD("SELU", of(SELU()));
  ADD("CELU", of(CELU(CELUOptions().alpha(1.5))));
  ADD("GELU", of(GELU()));
  ADD("GELU tanh", of(GELU(GELUOptions().approximate("tanh"))));
  ADD("GLU", of(GLU(1)));
  ADD("Hardshrink", of(Hardshrink(0.4)));
  ADD("Hardsigmoid", of(Hardsigmoid()));
  ADD("Hardswish", of(Hardswish()));
  ADD("Hardtanh", of(Hardtanh(HardtanhOptions().min_val(-0.5).max_val(2.0))));
  ADD("LeakyReLU", of(LeakyReLU(LeakyReLUOptions().negative_slope(0.2))));
  ADD("LeakyReLU in place", of(LeakyReLU(LeakyReLUOptions().inplace(true))));
  ADD("LogSigmoid", of(LogSigmoid()));
  ADD("Mish", of(Mish()));
  ADD("PReLU", of(PReLU()));
  ADD("PReLU channels", of(PReLU(PReLUOptions().num_parameters(4).init(0.1))));
  ADD("ReLU", of(ReLU()));
  ADD("ReLU in place", of(ReLU(true)));
  ADD("ReLU6", of(ReLU6()));
  ADD("RReLU", of(RReLU()));
  ADD("Sigmoid", of(Sigmoid()));
  ADD("SiLU", of(SiLU()));
  ADD("SiLU in place", of(SiLU(SiLUOptions(true))));
  ADD("Softmax", of(Softmax(1)));
  ADD("Softmin", of(Softmin(SoftminOptions(-1))));
  ADD("LogSoftmax", of(LogSoftmax(0)));
  ADD("Softmax2d", of(Softmax2d()));
  ADD("Softplus", of(Softplus(SoftplusOptions().beta(1.5).threshold(2.0))));
  ADD("Softshrink", of(Softshrink(0.4)));
  ADD("Softsign", of(Softsign()));
  ADD("Tanh", of(Tanh()));
  ADD("Tanhshrink", of(Tanhshrink()));
  ADD("Threshold", of(Threshold(0.1, 20.0)));
  // distances, folds, sizes
  ADD("CosineSimilarity", of(CosineSimilarity(CosineSimilarityOptions().dim(2).eps(1e-6))));
  ADD("PairwiseDistance", of(PairwiseDistance(PairwiseDistanceOptions().p(3.0))));
  ADD("PairwiseDistance keepdim", of(PairwiseDistance(PairwiseDistanceOptions().keepdim(true))));
  ADD("Fold", of(Fold(FoldOptions({5, 6}, {2, 3}).padding({1, 0}).stride(2))));
  ADD("Unfold", of(Unfold(UnfoldOptions({2, 3}).dilation({1, 2}).padding(1).stride(2))));
  ADD("PixelShuffle", of(PixelShuffle(2)));
  ADD("PixelUnshuffle", of(PixelUnshuffle(2)));
  ADD("ChannelShuffle", of(ChannelShuffle(2)));
  using Sizes = std::vector<int64_t>;
  using Factors = std::vector<double>;
  ADD("Upsample nearest", of(Upsample(UpsampleOptions().size(Sizes{9, 11}))));
  ADD("Upsample linear", of(Upsample(UpsampleOptions().scale_factor(Factors{1.7}).mode(kLinear))));
  ADD("Upsample bilinear",
      of(Upsample(UpsampleOptions().scale_factor(Factors{2.0, 2.0}).mode(kBilinear).align_corners(true))));
  ADD("Upsample bicubic", of(Upsample(UpsampleOptions().scale_factor(Factors{1.5, 2.0}).mode(kBicubic))));
  ADD("Upsample trilinear", of(Upsample(UpsampleOptions().scale_factor(Factors{2.0}).mode(kTrilinear))));
  // losses
  ADD("L1Loss", of(L1Loss()));
  ADD("L1Loss none", of(L1Loss(L1LossOptions(kNone))));
  ADD("MSELoss", of(MSELoss()));
  ADD("MSELoss sum", of(MSELoss(MSELossOptions().reduction(kSum))));
  ADD("SmoothL1Loss", of(SmoothL1Loss(SmoothL1LossOptions().beta(0.5))));
  ADD("HuberLoss", of(HuberLoss(HuberLossOptions().delta(0.5))));
  ADD("KLDivLoss", of(KLDivLoss()));
  ADD("KLDivLoss batchmean", of(KLDivLoss(KLDivLossOptions(kBatchMean).log_target(true))));
  ADD("BCELoss", of(BCELoss()));
  ADD("BCELoss weighted", of(BCELoss(BCELossOptions().weight(weights()).reduction(kSum))));
  ADD("BCEWithLogitsLoss", of(BCEWithLogitsLoss()));
  ADD("BCEWithLogitsLoss weighted",
      of(BCEWithLogitsLoss(BCEWithLogitsLossOptions().weight(weights()).pos_weight(weights() + 1))));
  ADD("HingeEmbeddingLoss", of(HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(0.7))));
  ADD("MultiMarginLoss", of(MultiMarginLoss(MultiMarginLossOptions().p(2).margin(0.7).weight(weights()))));
  ADD("CosineEmbeddingLoss", of(CosineEmbeddingLoss(CosineEmbeddingLossOptions().margin(0.2))));
  ADD("MultiLabelMarginLoss", of(MultiLabelMarginLoss()));
  ADD("SoftMarginLoss", of(SoftMarginLoss()));
  ADD("MultiLabelSoftMarginLoss", of(MultiLabelSoftMarginLoss(MultiLabelSoftMarginLossOptions().weight(weights()))));
  ADD("TripletMarginLoss", of(TripletMarginLoss(TripletMarginLossOptions().margin(2.0).p(3.0).swap(true))));
  ADD("TripletMarginWithDistanceLoss",
      of(TripletMarginWithDistanceLoss(TripletMarginWithDistanceLossOptions().margin(2.0))));
  ADD("TripletMarginWithDistanceLoss own",
      of(TripletMarginWithDistanceLoss(
          TripletMarginWithDistanceLossOptions()
              .distance_function([](const Tensor& a, const Tensor& b) { return (a - b).abs().amax(1); })
              .reduction(kNone))));
  ADD("CTCLoss", ctc(CTCLossOptions()));
  ADD("CTCLoss zero_infinity", ctc(CTCLossOptions().blank(4).reduction(kSum).zero_infinity(true)));
  ADD("PoissonNLLLoss", of(PoissonNLLLoss(PoissonNLLLossOptions().full(true))));
  ADD("PoissonNLLLoss plain", of(PoissonNLLLoss(PoissonNLLLossOptions().log_input(false))));
  ADD("GaussianNLLLoss", of(GaussianNLLLoss(GaussianNLLLossOptions().full(true))));
  ADD("MarginRankingLoss", of(MarginRankingLoss(MarginRankingLossOptions().margin(0.3))));
  ADD("NLLLoss", of(NLLLoss(NLLLossOptions().weight(weights()).ignore_index(2))));
  ADD("NLLLoss 2d", of(NLLLoss(NLLLossOptions().reduction(kNone))));
  ADD("CrossEntropyLoss", of(CrossEntropyLoss()));
  ADD("CrossEntropyLoss options",
      of(CrossEntropyLoss(CrossEntropyLossOptions().weight(weights()).ignore_index(1).label_smoothing(0.1))));
  ADD("CrossEntropyLoss probabilities", of(CrossEntropyLoss(CrossEntropyLossOptions().reduction(kSum))));
  ADD("AdaptiveLogSoftmaxWithLoss", adaptive(true, 5, "forward"));
  ADD("AdaptiveLogSoftmaxWithLoss log_prob", adaptive(false, 5, "log_prob"));
  ADD("AdaptiveLogSoftmaxWithLoss predict", adaptive(false, 2, "predict"));
  // half precision
  ADD("bfloat16 Linear", of(Linear(5, 3)));
  ADD("bfloat16 Conv2d", of(Conv2d(Conv2dOptions(4, 6, 3).padding(1))));
  ADD("bfloat16 LayerNorm", of(LayerNorm(LayerNormOptions({6}))));
  ADD("bfloat16 GELU", of(GELU()));
  ADD("bfloat16 Softmax", of(Softmax(1)));
  ADD("bfloat16 MaxPool2d", of(MaxPool2d(2)));
#undef ADD
  return list;
}

}  // namespace

const std::vector<LayerCase>& layer_cases() {
  static const std::vector<LayerCase> list = made();
  return list;
}

}  // namespace cresset::testing
