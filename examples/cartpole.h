// CartPole: a cart on a rail balances a pole by pushes to the left and to the right (Barto, Sutton and Anderson, 1983).
// An episode ends when the pole leans over 12 degrees, when the cart leaves the rail, or after 500 pushes.
#pragma once

#include <array>
#include <cmath>
#include <random>

class CartPole {
 public:
  using State = std::array<float, 4>;  // place and speed of the cart, angle and angular speed of the pole
  static constexpr int kLongest = 500;

  explicit CartPole(unsigned seed) : random_(seed) { reset(); }

  void reset() {
    std::uniform_real_distribution<float> start(-0.05F, 0.05F);
    for (float& value : state_) value = start(random_);
    pushes_ = 0;
  }

  void push(bool right) {
    constexpr float kGravity = 9.8F, kCart = 1.0F, kPole = 0.1F, kHalfLength = 0.5F, kForce = 10, kSeconds = 0.02F;
    auto& [place, speed, angle, turn] = state_;
    const float cosine = std::cos(angle), sine = std::sin(angle), mass = kCart + kPole;
    const float drive = ((right ? kForce : -kForce) + kPole * kHalfLength * turn * turn * sine) / mass;
    const float turning =
        (kGravity * sine - cosine * drive) / (kHalfLength * (4.0F / 3 - kPole * cosine * cosine / mass));
    const float pull = drive - kPole * kHalfLength * turning * cosine / mass;
    place += kSeconds * speed;
    speed += kSeconds * pull;
    angle += kSeconds * turn;
    turn += kSeconds * turning;
    pushes_++;
  }

  const State& state() const { return state_; }
  int pushes() const { return pushes_; }
  bool fell() const { return std::abs(state_[0]) > 2.4F || std::abs(state_[2]) > 0.2095F; }
  bool over() const { return fell() || pushes_ >= kLongest; }

 private:
  std::mt19937 random_;
  State state_{};
  int pushes_ = 0;
};
