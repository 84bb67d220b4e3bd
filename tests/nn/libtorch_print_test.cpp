// Modules print as libtorch's C++ does once torch.h is part of a program. The texts are libtorch 1.13.1's own.
#include <gtest/gtest.h>

#include <sstream>

#include "cresset/torch.h"

namespace libtorch_print_test {
namespace {

using namespace torch::nn;

// Other tests of this program want Cresset's own form.
struct LibtorchStyle {
  torch::PrintStyle before = torch::set_print_style(torch::PrintStyle::libtorch);
  ~LibtorchStyle() { torch::set_print_style(before); }
};
std::string printed(const Module& module) {
  const LibtorchStyle style;
  std::ostringstream text;
  text << module;
  return text.str();
}
#define PRINTS(text, ...) EXPECT_EQ(printed(*(__VA_ARGS__)), text)

struct Net : Module {
  Net()
      : conv(register_module("conv", Conv2d(1, 2, 3))),
        body(register_module("body", Sequential(Linear(2, 2), ReLU()))) {
    register_parameter("w", torch::ones(2));
    register_module("list", ModuleList(Linear(1, 1)));
    register_module("params", ParameterList(torch::zeros({2, 3}), torch::zeros({4})));
  }
  Conv2d conv;
  Sequential body;
};
struct Empty : Module {};

TEST(LibtorchPrint, linear_layers) {
  PRINTS("torch::nn::Identity()", Identity());
  PRINTS("torch::nn::Linear(in_features=3, out_features=4, bias=true)", Linear(3, 4));
  PRINTS("torch::nn::Linear(in_features=3, out_features=4, bias=false)", Linear(LinearOptions(3, 4).bias(false)));
  PRINTS("torch::nn::Bilinear(in1_features=3, in2_features=2, out_features=4, bias=true)", Bilinear(3, 2, 4));
  PRINTS("torch::nn::Bilinear(in1_features=3, in2_features=2, out_features=4, bias=false)",
         Bilinear(BilinearOptions(3, 2, 4).bias(false)));
  PRINTS("torch::nn::Flatten(start_dim=1, end_dim=-1)", Flatten());
  PRINTS("torch::nn::Flatten(start_dim=2, end_dim=4)", Flatten(FlattenOptions().start_dim(2).end_dim(4)));
  PRINTS("torch::nn::Unflatten(dim=0, unflattened_size={2, 2})", Unflatten(UnflattenOptions(0, {2, 2})));
}

TEST(LibtorchPrint, convolutions) {
  PRINTS("torch::nn::Conv1d(3, 4, kernel_size=5, stride=1)", Conv1d(3, 4, 5));
  PRINTS("torch::nn::Conv2d(3, 4, kernel_size=[5, 5], stride=[1, 1])", Conv2d(3, 4, 5));
  PRINTS("torch::nn::Conv2d(3, 4, kernel_size=[5, 5], stride=[2, 2])", Conv2d(Conv2dOptions(3, 4, 5).stride(2)));
  PRINTS(
      "torch::nn::Conv2d(4, 4, kernel_size=[5, 6], stride=[1, 2], padding=[3, 3], dilation=[2, 2], groups=2, "
      "bias=false, padding_mode=kCircular)",
      Conv2d(Conv2dOptions(4, 4, {5, 6})
                 .stride({1, 2})
                 .padding(3)
                 .dilation(2)
                 .groups(2)
                 .bias(false)
                 .padding_mode(torch::kCircular)));
  PRINTS("torch::nn::Conv2d(3, 4, kernel_size=[5, 5], stride=[1, 1], padding='same')",
         Conv2d(Conv2dOptions(3, 4, 5).padding(torch::kSame)));
  PRINTS("torch::nn::Conv2d(3, 4, kernel_size=[5, 5], stride=[1, 1], padding='valid', padding_mode=kReflect)",
         Conv2d(Conv2dOptions(3, 4, 5).padding(torch::kValid).padding_mode(torch::kReflect)));
  PRINTS("torch::nn::Conv3d(4, 4, kernel_size=[5, 5, 5], stride=[1, 1, 1])", Conv3d(4, 4, 5));
  PRINTS(
      "torch::nn::Conv3d(4, 4, kernel_size=[5, 6, 7], stride=[1, 2, 3], padding=[1, 1, 1], dilation=[2, 2, 2], "
      "groups=2, bias=false, padding_mode=kReplicate)",
      Conv3d(Conv3dOptions(4, 4, {5, 6, 7})
                 .stride({1, 2, 3})
                 .padding(1)
                 .dilation(2)
                 .groups(2)
                 .bias(false)
                 .padding_mode(torch::kReplicate)));
  PRINTS("torch::nn::ConvTranspose1d(3, 4, kernel_size=5, stride=1)", ConvTranspose1d(3, 4, 5));
  PRINTS("torch::nn::ConvTranspose2d(3, 4, kernel_size=[5, 5], stride=[1, 1])", ConvTranspose2d(3, 4, 5));
  PRINTS("torch::nn::ConvTranspose2d(3, 4, kernel_size=[5, 5], stride=[2, 2], padding=[1, 1], output_padding=[1, 1])",
         ConvTranspose2d(ConvTranspose2dOptions(3, 4, 5).stride(2).padding(1).output_padding(1)));
  PRINTS(
      "torch::nn::ConvTranspose3d(4, 4, kernel_size=[5, 6, 7], stride=[1, 2, 3], padding=[1, 1, 1], dilation=[0, 0, "
      "0], groups=2, bias=false)",
      ConvTranspose3d(
          ConvTranspose3dOptions(4, 4, {5, 6, 7}).stride({1, 2, 3}).padding(1).dilation(0).groups(2).bias(false)));
}

TEST(LibtorchPrint, pools) {
  PRINTS("torch::nn::MaxPool1d(kernel_size=5, stride=5, padding=0, dilation=1, ceil_mode=false)", MaxPool1d(5));
  PRINTS("torch::nn::MaxPool2d(kernel_size=[5, 5], stride=[5, 5], padding=[0, 0], dilation=[1, 1], ceil_mode=false)",
         MaxPool2d(5));
  PRINTS("torch::nn::MaxPool2d(kernel_size=[5, 5], stride=[2, 2], padding=[0, 0], dilation=[1, 1], ceil_mode=false)",
         MaxPool2d(MaxPool2dOptions(5).stride(2)));
  PRINTS("torch::nn::MaxPool2d(kernel_size=[5, 6], stride=[1, 2], padding=[1, 1], dilation=[2, 2], ceil_mode=true)",
         MaxPool2d(MaxPool2dOptions({5, 6}).stride({1, 2}).padding(1).dilation(2).ceil_mode(true)));
  PRINTS(
      "torch::nn::MaxPool3d(kernel_size=[5, 5, 5], stride=[2, 2, 2], padding=[0, 0, 0], dilation=[1, 1, 1], "
      "ceil_mode=false)",
      MaxPool3d(MaxPool3dOptions(5).stride(2)));
  PRINTS("torch::nn::AvgPool1d(kernel_size=5, stride=5, padding=0)", AvgPool1d(5));
  PRINTS("torch::nn::AvgPool2d(kernel_size=[5, 6], stride=[1, 2], padding=[0, 0])",
         AvgPool2d(AvgPool2dOptions({5, 6}).stride({1, 2})));
  PRINTS("torch::nn::AvgPool3d(kernel_size=[5, 5, 5], stride=[2, 2, 2], padding=[1, 1, 1])",
         AvgPool3d(AvgPool3dOptions(5).stride(2).padding(1).ceil_mode(true)));
  PRINTS("torch::nn::FractionalMaxPool2d()", FractionalMaxPool2d(FractionalMaxPool2dOptions(5).output_size(1)));
  PRINTS("torch::nn::FractionalMaxPool3d()", FractionalMaxPool3d(FractionalMaxPool3dOptions(5).output_size(1)));
  PRINTS("torch::nn::LPPool1d(norm_type=2, kernel_size=5, stride=5, ceil_mode=false)", LPPool1d(2, 5));
  PRINTS("torch::nn::LPPool1d(norm_type=1, kernel_size=2, stride=5, ceil_mode=true)",
         LPPool1d(LPPool1dOptions(1, 2).stride(5).ceil_mode(true)));
  PRINTS("torch::nn::LPPool2d(norm_type=1.5, kernel_size=[1, 2], stride=[5, 6], ceil_mode=true)",
         LPPool2d(LPPool2dOptions(1.5, {1, 2}).stride({5, 6}).ceil_mode(true)));
  PRINTS("torch::nn::AdaptiveMaxPool1d(output_size=5)", AdaptiveMaxPool1d(5));
  PRINTS("torch::nn::AdaptiveMaxPool2d(output_size=[5, 5])", AdaptiveMaxPool2d(5));
  PRINTS("torch::nn::AdaptiveMaxPool2d(output_size=[5, 6])", AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({5, 6})));
  PRINTS("torch::nn::AdaptiveMaxPool2d(output_size=[5, None])",
         AdaptiveMaxPool2d(AdaptiveMaxPool2dOptions({5, c10::nullopt})));
  PRINTS("torch::nn::AdaptiveMaxPool3d(output_size=[5, 6, 7])", AdaptiveMaxPool3d(AdaptiveMaxPool3dOptions({5, 6, 7})));
  PRINTS("torch::nn::AdaptiveAvgPool1d(output_size=5)", AdaptiveAvgPool1d(5));
  PRINTS("torch::nn::AdaptiveAvgPool2d(output_size=[None, None])",
         AdaptiveAvgPool2d(AdaptiveAvgPool2dOptions({c10::nullopt, c10::nullopt})));
  PRINTS("torch::nn::AdaptiveAvgPool3d(output_size=[5, 6, None])",
         AdaptiveAvgPool3d(AdaptiveAvgPool3dOptions({5, 6, c10::nullopt})));
  PRINTS("torch::nn::MaxUnpool1d(kernel_size=5, stride=5, padding=0)", MaxUnpool1d(5));
  PRINTS("torch::nn::MaxUnpool1d(kernel_size=5, stride=2, padding=1)",
         MaxUnpool1d(MaxUnpool1dOptions(5).stride(2).padding(1)));
  PRINTS("torch::nn::MaxUnpool2d(kernel_size=[5, 6], stride=[3, 4], padding=[1, 2])",
         MaxUnpool2d(MaxUnpool2dOptions({5, 6}).stride({3, 4}).padding({1, 2})));
  PRINTS("torch::nn::MaxUnpool3d(kernel_size=[5, 5, 5], stride=[5, 5, 5], padding=[0, 0, 0])", MaxUnpool3d(5));
}

TEST(LibtorchPrint, dropouts_and_embeddings) {
  PRINTS("torch::nn::Dropout(p=0.5, inplace=false)", Dropout());
  PRINTS("torch::nn::Dropout(p=0.42, inplace=false)", Dropout(0.42));
  PRINTS("torch::nn::Dropout(p=0.42, inplace=true)", Dropout(DropoutOptions().p(0.42).inplace(true)));
  PRINTS("torch::nn::Dropout2d(p=0.5, inplace=false)", Dropout2d());
  PRINTS("torch::nn::Dropout3d(p=0.42, inplace=true)", Dropout3d(Dropout3dOptions(0.42).inplace(true)));
  PRINTS("torch::nn::AlphaDropout(p=0.5, inplace=false)", AlphaDropout());
  PRINTS("torch::nn::AlphaDropout(p=0.3, inplace=true)", AlphaDropout(AlphaDropoutOptions(0.3).inplace(true)));
  PRINTS("torch::nn::FeatureAlphaDropout(p=0.2, inplace=false)", FeatureAlphaDropout(0.2));
  PRINTS("torch::nn::Embedding(num_embeddings=10, embedding_dim=2)", Embedding(10, 2));
  PRINTS(
      "torch::nn::Embedding(num_embeddings=10, embedding_dim=2, padding_idx=3, max_norm=2, norm_type=2.5, "
      "scale_grad_by_freq=true, sparse=true)",
      Embedding(
          EmbeddingOptions(10, 2).padding_idx(3).max_norm(2).norm_type(2.5).scale_grad_by_freq(true).sparse(true)));
  PRINTS("torch::nn::EmbeddingBag(num_embeddings=10, embedding_dim=2)", EmbeddingBag(10, 2));
  PRINTS(
      "torch::nn::EmbeddingBag(num_embeddings=10, embedding_dim=2, max_norm=2, norm_type=2.5, scale_grad_by_freq=true, "
      "sparse=true, mode=kSum)",
      EmbeddingBag(EmbeddingBagOptions(10, 2).max_norm(2).norm_type(2.5).scale_grad_by_freq(true).sparse(true).mode(
          torch::kSum)));
  PRINTS("torch::nn::EmbeddingBag(num_embeddings=10, embedding_dim=2, mode=kMax, padding_idx=5)",
         EmbeddingBag(EmbeddingBagOptions(10, 2).mode(torch::kMax).padding_idx(5)));
}

TEST(LibtorchPrint, norms) {
  PRINTS("torch::nn::BatchNorm1d(4, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)", BatchNorm1d(4));
  PRINTS("torch::nn::BatchNorm1d(4, eps=0.5, momentum=0.1, affine=false, track_running_stats=true)",
         BatchNorm1d(BatchNorm1dOptions(4).eps(0.5).momentum(0.1).affine(false).track_running_stats(true)));
  PRINTS("torch::nn::BatchNorm2d(4, eps=1e-05, momentum=None, affine=true, track_running_stats=true)",
         BatchNorm2d(BatchNorm2dOptions(4).momentum(c10::nullopt)));
  PRINTS("torch::nn::BatchNorm3d(4, eps=0.5, momentum=0.1, affine=true, track_running_stats=false)",
         BatchNorm3d(BatchNorm3dOptions(4).eps(0.5).track_running_stats(false)));
  PRINTS("torch::nn::InstanceNorm1d(4, eps=1e-05, momentum=0.1, affine=false, track_running_stats=false)",
         InstanceNorm1d(4));
  PRINTS("torch::nn::InstanceNorm2d(4, eps=0.5, momentum=0.1, affine=false, track_running_stats=true)",
         InstanceNorm2d(InstanceNorm2dOptions(4).eps(0.5).momentum(0.1).affine(false).track_running_stats(true)));
  PRINTS("torch::nn::InstanceNorm3d(4, eps=1e-05, momentum=0.1, affine=false, track_running_stats=false)",
         InstanceNorm3d(4));
  PRINTS("torch::nn::LayerNorm([2, 2], eps=1e-05, elementwise_affine=true)", LayerNorm(LayerNormOptions({2, 2})));
  PRINTS("torch::nn::LayerNorm([2], eps=2e-05, elementwise_affine=false)",
         LayerNorm(LayerNormOptions({2}).elementwise_affine(false).eps(2e-5)));
  PRINTS("torch::nn::GroupNorm(2, 4, eps=1e-05, affine=true)", GroupNorm(2, 4));
  PRINTS("torch::nn::GroupNorm(2, 4, eps=2e-05, affine=false)",
         GroupNorm(GroupNormOptions(2, 4).eps(2e-5).affine(false)));
  PRINTS("torch::nn::LocalResponseNorm(2, alpha=0.0001, beta=0.75, k=1)", LocalResponseNorm(2));
  PRINTS("torch::nn::LocalResponseNorm(2, alpha=0.0002, beta=0.85, k=2)",
         LocalResponseNorm(LocalResponseNormOptions(2).alpha(0.0002).beta(0.85).k(2.)));
  PRINTS("torch::nn::CrossMapLRN2d(4, alpha=0.0001, beta=0.75, k=1)", CrossMapLRN2d(4));
  PRINTS("torch::nn::CrossMapLRN2d(3, alpha=1e-05, beta=0.1, k=10)",
         CrossMapLRN2d(CrossMapLRN2dOptions(3).alpha(1e-5).beta(0.1).k(10)));
}

TEST(LibtorchPrint, activations) {
  PRINTS("torch::nn::ELU(alpha=1)", ELU());
  PRINTS("torch::nn::ELU(alpha=42.42, inplace=true)", ELU(ELUOptions().alpha(42.42).inplace(true)));
  PRINTS("torch::nn::SELU()", SELU());
  PRINTS("torch::nn::SELU(inplace=true)", SELU(SELUOptions().inplace(true)));
  PRINTS("torch::nn::CELU(alpha=1)", CELU());
  PRINTS("torch::nn::CELU(alpha=42.42, inplace=true)", CELU(CELUOptions().alpha(42.42).inplace(true)));
  PRINTS("torch::nn::GELU()", GELU());
  PRINTS("torch::nn::GELU()", GELU(GELUOptions().approximate("tanh")));
  PRINTS("torch::nn::GLU(dim=-1)", GLU());
  PRINTS("torch::nn::GLU(dim=1)", GLU(1));
  PRINTS("torch::nn::Hardshrink(0.5)", Hardshrink());
  PRINTS("torch::nn::Hardshrink(42.42)", Hardshrink(42.42));
  PRINTS("torch::nn::Hardtanh(min_val=-1, max_val=1)", Hardtanh());
  PRINTS("torch::nn::Hardtanh(min_val=-42.42, max_val=0.42, inplace=true)",
         Hardtanh(HardtanhOptions().min_val(-42.42).max_val(0.42).inplace(true)));
  PRINTS("torch::nn::LeakyReLU(negative_slope=0.01)", LeakyReLU());
  PRINTS("torch::nn::LeakyReLU(negative_slope=0.42, inplace=true)",
         LeakyReLU(LeakyReLUOptions().negative_slope(0.42).inplace(true)));
  PRINTS("torch::nn::LogSigmoid()", LogSigmoid());
  PRINTS("torch::nn::Mish()", Mish());
  PRINTS("torch::nn::PReLU(num_parameters=1)", PReLU());
  PRINTS("torch::nn::PReLU(num_parameters=42)", PReLU(PReLUOptions().num_parameters(42)));
  PRINTS("torch::nn::ReLU()", ReLU());
  PRINTS("torch::nn::ReLU(inplace=true)", ReLU(ReLUOptions(true)));
  PRINTS("torch::nn::ReLU6()", ReLU6());
  PRINTS("torch::nn::ReLU6(inplace=true)", ReLU6(ReLU6Options().inplace(true)));
  PRINTS("torch::nn::RReLU(lower=0.125, upper=0.333333)", RReLU());
  PRINTS("torch::nn::RReLU(lower=0.24, upper=0.42, inplace=true)",
         RReLU(RReLUOptions().lower(0.24).upper(0.42).inplace(true)));
  PRINTS("torch::nn::Sigmoid()", Sigmoid());
  PRINTS("torch::nn::SiLU()", SiLU());
  PRINTS("torch::nn::Softmax(dim=1)", Softmax(1));
  PRINTS("torch::nn::Softmin(dim=1)", Softmin(1));
  PRINTS("torch::nn::LogSoftmax(dim=1)", LogSoftmax(1));
  PRINTS("torch::nn::Softmax2d()", Softmax2d());
  PRINTS("torch::nn::Softplus(beta=1, threshold=20)", Softplus());
  PRINTS("torch::nn::Softplus(beta=0.24, threshold=42.42)", Softplus(SoftplusOptions().beta(0.24).threshold(42.42)));
  PRINTS("torch::nn::Softshrink(0.5)", Softshrink());
  PRINTS("torch::nn::Softshrink(42.42)", Softshrink(SoftshrinkOptions(42.42)));
  PRINTS("torch::nn::Softsign()", Softsign());
  PRINTS("torch::nn::Tanh()", Tanh());
  PRINTS("torch::nn::Tanhshrink()", Tanhshrink());
  PRINTS("torch::nn::Threshold(threshold=24.24, value=42.42)", Threshold(24.24, 42.42));
  PRINTS("torch::nn::Threshold(threshold=42.42, value=24.24, inplace=true)",
         Threshold(ThresholdOptions(42.42, 24.24).inplace(true)));
}

TEST(LibtorchPrint, rearrangements_and_pads) {
  PRINTS("torch::nn::Upsample(scale_factor=[3], mode=kLinear)",
         Upsample(UpsampleOptions().scale_factor(std::vector<double>({3})).mode(torch::kLinear)));
  PRINTS("torch::nn::Upsample(size=[4], mode=kNearest)", Upsample(UpsampleOptions().size(std::vector<int64_t>({4}))));
  PRINTS("torch::nn::Upsample(size=[2, 3], mode=kBilinear)",
         Upsample(UpsampleOptions().size(std::vector<int64_t>({2, 3})).mode(torch::kBilinear)));
  PRINTS("torch::nn::Upsample(scale_factor=[2, 3.5], mode=kBicubic)",
         Upsample(UpsampleOptions().scale_factor(std::vector<double>({2, 3.5})).mode(torch::kBicubic)));
  PRINTS("torch::nn::Upsample(scale_factor=[2, 3, 4], mode=kTrilinear)",
         Upsample(UpsampleOptions().scale_factor(std::vector<double>({2, 3, 4})).mode(torch::kTrilinear)));
  PRINTS("torch::nn::PixelShuffle(upscale_factor=5)", PixelShuffle(5));
  PRINTS("torch::nn::PixelUnshuffle(downscale_factor=5)", PixelUnshuffle(5));
  PRINTS("torch::nn::Fold(output_size=[4, 5], kernel_size=[2, 3], dilation=[1, 1], padding=[0, 0], stride=[1, 1])",
         Fold(FoldOptions({4, 5}, {2, 3})));
  PRINTS("torch::nn::Fold(output_size=[8, 8], kernel_size=[3, 3], dilation=[2, 2], padding=[2, 1], stride=[2, 2])",
         Fold(FoldOptions({8, 8}, {3, 3}).dilation(2).padding({2, 1}).stride(2)));
  PRINTS("torch::nn::Unfold(kernel_size=[2, 4], dilation=[1, 1], padding=[0, 0], stride=[1, 1])",
         Unfold(UnfoldOptions({2, 4})));
  PRINTS("torch::nn::Unfold(kernel_size=[2, 4], dilation=[2, 2], padding=[2, 1], stride=[2, 2])",
         Unfold(UnfoldOptions({2, 4}).dilation(2).padding({2, 1}).stride(2)));
  PRINTS("torch::nn::ReflectionPad1d(padding=[2, 2])", ReflectionPad1d(2));
  PRINTS("torch::nn::ReflectionPad1d(padding=[3, 1])", ReflectionPad1d(ReflectionPad1dOptions({3, 1})));
  PRINTS("torch::nn::ReflectionPad2d(padding=[1, 1, 2, 0])", ReflectionPad2d(ReflectionPad2dOptions({1, 1, 2, 0})));
  PRINTS("torch::nn::ReflectionPad3d(padding=[1, 2, 1, 2, 1, 2])",
         ReflectionPad3d(ReflectionPad3dOptions({1, 2, 1, 2, 1, 2})));
  PRINTS("torch::nn::ReplicationPad1d(padding=[2, 2])", ReplicationPad1d(2));
  PRINTS("torch::nn::ReplicationPad2d(padding=[2, 2, 2, 2])", ReplicationPad2d(2));
  PRINTS("torch::nn::ReplicationPad3d(padding=[1, 2, 1, 2, 1, 2])",
         ReplicationPad3d(ReplicationPad3dOptions({1, 2, 1, 2, 1, 2})));
  PRINTS("torch::nn::ZeroPad2d(padding=[2, 2, 2, 2])", ZeroPad2d(2));
  PRINTS("torch::nn::ZeroPad2d(padding=[1, 1, 2, 0])", ZeroPad2d(ZeroPad2dOptions({1, 1, 2, 0})));
  PRINTS("torch::nn::ConstantPad1d(padding=[2, 2], value=3.5)", ConstantPad1d(2, 3.5));
  PRINTS("torch::nn::ConstantPad2d(padding=[3, 0, 2, 1], value=3.5)",
         ConstantPad2d(ConstantPad2dOptions({3, 0, 2, 1}, 3.5)));
  PRINTS("torch::nn::ConstantPad3d(padding=[1, 1, 1, 1, 1, 1], value=3.5)", ConstantPad3d(1, 3.5));
}

TEST(LibtorchPrint, losses_and_distances) {
  PRINTS("torch::nn::CosineSimilarity(dim=1, eps=1e-08)", CosineSimilarity());
  PRINTS("torch::nn::CosineSimilarity(dim=0, eps=0.5)", CosineSimilarity(CosineSimilarityOptions().dim(0).eps(0.5)));
  PRINTS("torch::nn::PairwiseDistance(p=2, eps=1e-06, keepdim=false)", PairwiseDistance());
  PRINTS("torch::nn::PairwiseDistance(p=3, eps=0.5, keepdim=true)",
         PairwiseDistance(PairwiseDistanceOptions().p(3).eps(0.5).keepdim(true)));
  PRINTS("torch::nn::L1Loss()", L1Loss());
  PRINTS("torch::nn::KLDivLoss()", KLDivLoss());
  PRINTS("torch::nn::MSELoss()", MSELoss());
  PRINTS("torch::nn::BCELoss()", BCELoss());
  PRINTS("torch::nn::HingeEmbeddingLoss(margin=1)", HingeEmbeddingLoss());
  PRINTS("torch::nn::HingeEmbeddingLoss(margin=0.5)", HingeEmbeddingLoss(HingeEmbeddingLossOptions().margin(0.5)));
  PRINTS("torch::nn::CosineEmbeddingLoss(margin=0)", CosineEmbeddingLoss());
  PRINTS("torch::nn::CosineEmbeddingLoss(margin=0.25)", CosineEmbeddingLoss(CosineEmbeddingLossOptions().margin(0.25)));
  PRINTS("torch::nn::TripletMarginLoss(margin=1, p=2, eps=1e-06, swap=false)", TripletMarginLoss());
  PRINTS("torch::nn::TripletMarginLoss(margin=3, p=2, eps=1e-06, swap=false)",
         TripletMarginLoss(TripletMarginLossOptions().margin(3).p(2).eps(1e-06).swap(false)));
  PRINTS("torch::nn::TripletMarginWithDistanceLoss(margin=1, swap=false)", TripletMarginWithDistanceLoss());
  PRINTS("torch::nn::MultiLabelMarginLoss()", MultiLabelMarginLoss());
  PRINTS("torch::nn::MultiMarginLoss(p=1, margin=1, weight=[ Tensor (undefined) ], reduction=kMean)",
         MultiMarginLoss());
  PRINTS("torch::nn::MultiMarginLoss(p=2, margin=0.5, weight=[ Tensor (undefined) ], reduction=kMean)",
         MultiMarginLoss(MultiMarginLossOptions().margin(0.5).p(2)));
  PRINTS("torch::nn::SoftMarginLoss()", SoftMarginLoss());
  PRINTS("torch::nn::MultiLabelSoftMarginLoss()", MultiLabelSoftMarginLoss());
  PRINTS("torch::nn::SmoothL1Loss", SmoothL1Loss());
  PRINTS("torch::nn::SmoothL1Loss", SmoothL1Loss(SmoothL1LossOptions().beta(0.5)));
  PRINTS("torch::nn::HuberLoss", HuberLoss());
  PRINTS("torch::nn::HuberLoss", HuberLoss(HuberLossOptions().delta(0.5)));
  PRINTS("torch::nn::PoissonNLLLoss()", PoissonNLLLoss());
  PRINTS("torch::nn::MarginRankingLoss()", MarginRankingLoss());
  PRINTS("torch::nn::MarginRankingLoss()", MarginRankingLoss(MarginRankingLossOptions().margin(0.5)));
  PRINTS("torch::nn::NLLLoss()", NLLLoss());
  PRINTS("torch::nn::CrossEntropyLoss()", CrossEntropyLoss());
  PRINTS("torch::nn::BCEWithLogitsLoss()", BCEWithLogitsLoss());
  PRINTS("torch::nn::CTCLoss()", CTCLoss());
  PRINTS("torch::nn::CTCLoss()", CTCLoss(CTCLossOptions().blank(42).zero_infinity(false).reduction(torch::kSum)));
}

TEST(LibtorchPrint, recurrent_layers) {
  PRINTS(
      "torch::nn::RNN(input_size=128, hidden_size=64, num_layers=1, bias=true, batch_first=false, dropout=0, "
      "bidirectional=false)",
      RNN(128, 64));
  PRINTS(
      "torch::nn::RNN(input_size=128, hidden_size=64, num_layers=3, bias=true, batch_first=false, dropout=0.2, "
      "bidirectional=false)",
      RNN(RNNOptions(128, 64).num_layers(3).dropout(0.2).nonlinearity(torch::kTanh)));
  PRINTS(
      "torch::nn::LSTM(input_size=128, hidden_size=64, num_layers=1, bias=true, batch_first=false, dropout=0, "
      "bidirectional=false)",
      LSTM(128, 64));
  PRINTS(
      "torch::nn::LSTM(input_size=128, hidden_size=64, num_layers=3, bias=false, batch_first=true, dropout=0.2, "
      "bidirectional=true)",
      LSTM(LSTMOptions(128, 64).num_layers(3).dropout(0.2).bias(false).batch_first(true).bidirectional(true)));
  PRINTS(
      "torch::nn::LSTM(input_size=128, hidden_size=64, num_layers=3, bias=true, batch_first=false, dropout=0.2, "
      "bidirectional=false, proj_size=32)",
      LSTM(LSTMOptions(128, 64).num_layers(3).dropout(0.2).proj_size(32)));
  PRINTS(
      "torch::nn::GRU(input_size=128, hidden_size=64, num_layers=1, bias=true, batch_first=false, dropout=0, "
      "bidirectional=false)",
      GRU(128, 64));
  PRINTS(
      "torch::nn::GRU(input_size=128, hidden_size=64, num_layers=3, bias=true, batch_first=false, dropout=0.5, "
      "bidirectional=false)",
      GRU(GRUOptions(128, 64).num_layers(3).dropout(0.5)));
  PRINTS("torch::nn::RNNCell(20, 10)", RNNCell(20, 10));
  PRINTS("torch::nn::RNNCell(20, 10, bias=false)",
         RNNCell(RNNCellOptions(20, 10).bias(false).nonlinearity(torch::kTanh)));
  PRINTS("torch::nn::RNNCell(20, 10, bias=false, nonlinearity=kReLU)",
         RNNCell(RNNCellOptions(20, 10).bias(false).nonlinearity(torch::kReLU)));
  PRINTS("torch::nn::LSTMCell(20, 10)", LSTMCell(20, 10));
  PRINTS("torch::nn::LSTMCell(20, 10, bias=false)", LSTMCell(LSTMCellOptions(20, 10).bias(false)));
  PRINTS("torch::nn::GRUCell(20, 10)", GRUCell(20, 10));
  PRINTS("torch::nn::GRUCell(20, 10, bias=false)", GRUCell(GRUCellOptions(20, 10).bias(false)));
}

TEST(LibtorchPrint, attention) {
  PRINTS(R"(torch::nn::AdaptiveLogSoftmaxWithLoss(
  (head): torch::nn::Linear(in_features=8, out_features=3, bias=false)
  (tail): torch::nn::ModuleList(
    (0): torch::nn::Sequential(
      (0): torch::nn::Linear(in_features=8, out_features=4, bias=false)
      (1): torch::nn::Linear(in_features=4, out_features=2, bias=false)
    )
  )
))",
         AdaptiveLogSoftmaxWithLoss(AdaptiveLogSoftmaxWithLossOptions(8, 4, {2}).div_value(2.)));
  PRINTS(R"(torch::nn::MultiheadAttention(
  (out_proj): torch::nn::Linear(in_features=20, out_features=20, bias=true)
))",
         MultiheadAttention(20, 10));
  PRINTS(R"(torch::nn::MultiheadAttention(
  (out_proj): torch::nn::Linear(in_features=20, out_features=20, bias=false)
))",
         MultiheadAttention(MultiheadAttentionOptions(20, 10).bias(false)));
  PRINTS(R"(torch::nn::TransformerEncoderLayerImpl(
  (self_attn): torch::nn::MultiheadAttention(
    (out_proj): torch::nn::Linear(in_features=4, out_features=4, bias=true)
  )
  (linear1): torch::nn::Linear(in_features=4, out_features=2048, bias=true)
  (dropout): torch::nn::Dropout(p=0.1, inplace=false)
  (linear2): torch::nn::Linear(in_features=2048, out_features=4, bias=true)
  (norm1): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
  (norm2): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
  (dropout1): torch::nn::Dropout(p=0.1, inplace=false)
  (dropout2): torch::nn::Dropout(p=0.1, inplace=false)
))",
         TransformerEncoderLayer(4, 2));
  PRINTS(R"(torch::nn::TransformerImpl(
  (encoder): torch::nn::TransformerEncoderImpl(
    (layers): torch::nn::ModuleList(
      (0): torch::nn::TransformerEncoderLayerImpl(
        (self_attn): torch::nn::MultiheadAttention(
          (out_proj): torch::nn::Linear(in_features=4, out_features=4, bias=true)
        )
        (linear1): torch::nn::Linear(in_features=4, out_features=2048, bias=true)
        (dropout): torch::nn::Dropout(p=0.1, inplace=false)
        (linear2): torch::nn::Linear(in_features=2048, out_features=4, bias=true)
        (norm1): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
        (norm2): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
        (dropout1): torch::nn::Dropout(p=0.1, inplace=false)
        (dropout2): torch::nn::Dropout(p=0.1, inplace=false)
      )
    )
    (norm): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
  )
  (decoder): torch::nn::TransformerDecoderImpl(
    (layers): torch::nn::ModuleList(
      (0): torch::nn::TransformerDecoderLayerImpl(
        (self_attn): torch::nn::MultiheadAttention(
          (out_proj): torch::nn::Linear(in_features=4, out_features=4, bias=true)
        )
        (multihead_attn): torch::nn::MultiheadAttention(
          (out_proj): torch::nn::Linear(in_features=4, out_features=4, bias=true)
        )
        (linear1): torch::nn::Linear(in_features=4, out_features=2048, bias=true)
        (dropout): torch::nn::Dropout(p=0.1, inplace=false)
        (linear2): torch::nn::Linear(in_features=2048, out_features=4, bias=true)
        (norm1): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
        (norm2): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
        (norm3): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
        (dropout1): torch::nn::Dropout(p=0.1, inplace=false)
        (dropout2): torch::nn::Dropout(p=0.1, inplace=false)
        (dropout3): torch::nn::Dropout(p=0.1, inplace=false)
      )
    )
    (norm): torch::nn::LayerNorm([4], eps=1e-05, elementwise_affine=true)
  )
))",
         Transformer(TransformerOptions(4, 2, 1, 1)));
}

TEST(LibtorchPrint, containers) {
  PRINTS("torch::nn::Functional()", Functional(torch::relu));
  PRINTS("torch::nn::Sequential", Sequential());
  PRINTS(R"(torch::nn::Sequential(
  (0): torch::nn::Linear(in_features=10, out_features=3, bias=true)
  (1): torch::nn::Conv2d(1, 2, kernel_size=[3, 3], stride=[1, 1])
  (2): torch::nn::Dropout(p=0.5, inplace=false)
  (3): torch::nn::BatchNorm2d(5, eps=1e-05, momentum=0.1, affine=true, track_running_stats=true)
  (4): torch::nn::Embedding(num_embeddings=4, embedding_dim=10)
  (5): torch::nn::LSTM(input_size=4, hidden_size=5, num_layers=1, bias=true, batch_first=false, dropout=0, bidirectional=false)
))",
         Sequential(Linear(10, 3), Conv2d(1, 2, 3), Dropout(0.5), BatchNorm2d(5), Embedding(4, 10), LSTM(4, 5)));
  PRINTS(R"(torch::nn::Sequential(
  (linear): torch::nn::Linear(in_features=10, out_features=3, bias=true)
  (act): torch::nn::ReLU()
))",
         Sequential({{"linear", Linear(10, 3)}, {"act", ReLU()}}));
  PRINTS(R"(torch::nn::ModuleList(
  (0): torch::nn::Linear(in_features=10, out_features=3, bias=true)
  (1): torch::nn::Dropout(p=0.5, inplace=false)
))",
         ModuleList(Linear(10, 3), Dropout(0.5)));
  PRINTS("torch::nn::ModuleList", ModuleList());
  PRINTS(R"(torch::nn::ModuleDict(
  (linear): torch::nn::Linear(in_features=10, out_features=3, bias=true)
  (act): torch::nn::Tanh()
))",
         ModuleDict(torch::OrderedDict<std::string, std::shared_ptr<Module>>(
             {{"linear", Linear(10, 3).ptr()}, {"act", Tanh().ptr()}})));
  PRINTS(R"(torch::nn::ParameterDict(
(a): Parameter containing: [Float of size [2, 3]]
(b): Parameter containing: [Double of size [4]]
))",
         ParameterDict(torch::OrderedDict<std::string, torch::Tensor>(
             {{"a", torch::zeros({2, 3})}, {"b", torch::zeros({4}, torch::kDouble)}})));
  PRINTS(R"(torch::nn::ParameterList(
(0): Parameter containing: [Float of size [2, 3]]
(1): Parameter containing: [Int of size [4]]
))",
         ParameterList(torch::zeros({2, 3}), torch::zeros({4}, torch::kInt)));
  PRINTS(R"(torch::nn::ParameterList(
(0): Parameter containing: [Float of size [2, 3]]
))",
         ParameterList(torch::zeros({2, 3})));
  PRINTS(R"(torch::nn::ParameterList(
))",
         ParameterList());
  PRINTS(R"(libtorch_print_test::(anonymous namespace)::Net(
  (conv): torch::nn::Conv2d(1, 2, kernel_size=[3, 3], stride=[1, 1])
  (body): torch::nn::Sequential(
    (0): torch::nn::Linear(in_features=2, out_features=2, bias=true)
    (1): torch::nn::ReLU()
  )
  (list): torch::nn::ModuleList(
    (0): torch::nn::Linear(in_features=1, out_features=1, bias=true)
  )
  (params): torch::nn::ParameterList(
(0): Parameter containing: [Float of size [2, 3]]
(1): Parameter containing: [Float of size [4]]
)
))",
         std::make_shared<Net>());
  PRINTS("libtorch_print_test::(anonymous namespace)::Empty", std::make_shared<Empty>());
}

// A file's variables are initialised after what it includes: torch.h had set the style by then.
const torch::PrintStyle style_at_start = torch::print_style();

TEST(LibtorchPrint, including_torch_h_sets_the_style) { EXPECT_EQ(style_at_start, torch::PrintStyle::libtorch); }

TEST(LibtorchPrint, own_form_is_pythons) {
  const torch::PrintStyle before = torch::set_print_style(torch::PrintStyle::python);
  std::ostringstream text;
  text << *Linear(3, 4) << ' ' << *Sequential(Conv2d(1, 2, 3));
  torch::set_print_style(before);
  EXPECT_EQ(text.str(),
            "Linear(in_features=3, out_features=4, bias=True) "
            "Sequential(\n  (0): Conv2d(1, 2, kernel_size=(3, 3), stride=(1, 1))\n)");
}

}  // namespace
}  // namespace libtorch_print_test
