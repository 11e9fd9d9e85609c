#include <doctest/doctest.h>

#include <cmath>   // cos, erf, exp, log, pow, sin, sqrt, tanh
#include <limits>  // numeric_limits

#include "tests/unit/gradcheck.hpp"

namespace attn {
namespace {

struct Unary {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*formula)(double);
  double low, high;  // where it is smooth
};

const Unary unary_ops[] = {
    {"neg", [](const Tensor& x) { return -x; }, [](double x) { return -x; }, -2, 2},
    {"log", [](const Tensor& x) { return log(x); }, [](double x) { return std::log(x); }, 0.2, 3},
    {"sqrt", [](const Tensor& x) { return sqrt(x); }, [](double x) { return std::sqrt(x); }, 0.2, 3},
    {"exp", [](const Tensor& x) { return exp(x); }, [](double x) { return std::exp(x); }, -3, 2},
    {"tanh", [](const Tensor& x) { return tanh(x); }, [](double x) { return std::tanh(x); }, -3, 3},
    {"sigmoid", [](const Tensor& x) { return sigmoid(x); }, [](double x) { return 1 / (1 + std::exp(-x)); },
     -4, 4},
    {"relu, left", [](const Tensor& x) { return relu(x); }, [](double) { return 0.0; }, -3, -0.1},
    {"relu, right", [](const Tensor& x) { return relu(x); }, [](double x) { return x; }, 0.1, 3},
    {"silu", [](const Tensor& x) { return silu(x); }, [](double x) { return x / (1 + std::exp(-x)); }, -4, 4},
    {"gelu", [](const Tensor& x) { return gelu(x); },
     [](double x) { return x / 2 * (1 + std::erf(x / std::sqrt(2))); }, -4, 4},
    {"gelu by tanh", [](const Tensor& x) { return gelu(x, true); },
     [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, -4,
     4},
    {"x + c", [](const Tensor& x) { return x + 3; }, [](double x) { return x + 3; }, -2, 2},
    {"c + x", [](const Tensor& x) { return 3 + x; }, [](double x) { return x + 3; }, -2, 2},
    {"x - c", [](const Tensor& x) { return x - 3; }, [](double x) { return x - 3; }, -2, 2},
    {"c - x", [](const Tensor& x) { return 3 - x; }, [](double x) { return 3 - x; }, -2, 2},
    {"x c", [](const Tensor& x) { return x * 3; }, [](double x) { return x * 3; }, -2, 2},
    {"c x", [](const Tensor& x) { return 3 * x; }, [](double x) { return x * 3; }, -2, 2},
    {"x / c", [](const Tensor& x) { return x / 3; }, [](double x) { return x / 3; }, -2, 2},
    {"c / x", [](const Tensor& x) { return 3 / x; }, [](double x) { return 3 / x; }, 0.5, 2},
    {"x^3", [](const Tensor& x) { return pow(x, 3); }, [](double x) { return x * x * x; }, -2, 2},
    {"x^2.5", [](const Tensor& x) { return pow(x, 2.5); }, [](double x) { return std::pow(x, 2.5); }, 0.2, 2},
    {"x^-1", [](const Tensor& x) { return pow(x, -1); }, [](double x) { return 1 / x; }, 0.5, 2},
};

struct Binary {
  const char* name;
  Tensor (*op)(const Tensor&, const Tensor&);
  double (*formula)(double, double);
};

const Binary binary_ops[] = {
    {"add", [](const Tensor& a, const Tensor& b) { return a + b; }, [](double x, double y) { return x + y; }},
    {"sub", [](const Tensor& a, const Tensor& b) { return a - b; }, [](double x, double y) { return x - y; }},
    {"mul", [](const Tensor& a, const Tensor& b) { return a * b; }, [](double x, double y) { return x * y; }},
    {"div", [](const Tensor& a, const Tensor& b) { return a / b; }, [](double x, double y) { return x / y; }},
};

const struct {
  Shape a, b;
} broadcast_pairs[] = {
    {{7}, {7}},                    // no stretching
    {{}, {}},                      // two scalars
    {{3, 5}, {}},                  // a scalar with anything
    {{1}, {}},                     //
    {{3, 5}, {5}},                 // a missing axis
    {{3, 5}, {3, 1}},              // an axis of size 1, last
    {{3, 5}, {1, 5}},              // and first
    {{3, 1}, {1, 5}},              // both sides stretched
    {{3, 1}, {5}},                 // both, and one axis missing
    {{2, 1, 3}, {4, 1}},           //
    {{2, 3, 4}, {3, 1}},           //
    {{2, 3, 4}, {2, 1, 4}},        // an axis in the middle
    {{2, 3, 4}, {1, 3, 1}},        // all but the middle
    {{2, 1, 3, 1}, {1, 4, 1, 5}},  // every other axis
    {{1, 1, 1}, {2, 3}},           // more axes but fewer elements
    {{2, 1, 2, 1, 3, 1}, {2, 1, 2, 1, 2}},
    {{17, 33}, {33}},  // longer than a vector register
    {{1, 1}, {1}},
};

TEST_CASE("unary ops compute their formula and its derivative") {
  for (const Unary& unary : unary_ops)
    for (const Shape& shape : {Shape{}, Shape{1}, Shape{7}, Shape{3, 5}, Shape{2, 1, 17}, Shape{33}}) {
      CAPTURE(unary.name);
      const Tensor x = random_tensor(shape, 3, unary.low, unary.high);
      check_close(unary.op(x),
                  from_formula(shape, [&](const At& i) { return unary.formula(element(x, i)); }));
      check_gradients([&](const auto& in) { return unary.op(in[0]); }, {x});
    }
}

TEST_CASE("binary ops compute their formula with broadcasting, and both derivatives") {
  for (const Binary& binary : binary_ops)
    for (const auto& shapes : broadcast_pairs) {
      const Shape &a_shape = shapes.a, &b_shape = shapes.b;
      const Tensor a = random_tensor(a_shape, 1, 0.5, 2), b = random_tensor(b_shape, 2, 0.5, 2);
      INFO(binary.name << " " << a_shape.str() << " and " << b_shape.str());
      const Shape out = broadcast_shape("test", a_shape, b_shape);
      const auto formula = [&](const Tensor& x, const Tensor& y) {
        return from_formula(out, [&](const At& i) { return binary.formula(element(x, i), element(y, i)); });
      };
      check_close(binary.op(a, b), formula(a, b));
      check_close(binary.op(b, a), formula(b, a));
      check_gradients([&](const auto& in) { return binary.op(in[0], in[1]); }, {a, b});
      check_gradients([&](const auto& in) { return binary.op(in[1], in[0]); }, {a, b});
    }
}

TEST_CASE("a tensor may stand on both sides of a binary op") {
  for (const Binary& binary : binary_ops) {
    CAPTURE(binary.name);
    check_gradients([&](const auto& in) { return binary.op(in[0], in[0]); },
                    {random_tensor({3, 5}, 4, 0.5, 2)});
    check_gradients([&](const auto& in) { return binary.op(in[0], in[0][1]); },
                    {random_tensor({3, 5}, 4, 0.5, 2)});
  }
}

TEST_CASE("ops on tensors without elements give tensors without elements") {
  for (const Binary& binary : binary_ops) {
    CAPTURE(binary.name);
    CHECK(binary.op(zeros({0, 3}), zeros({0, 3})).shape() == Shape{0, 3});
    CHECK(binary.op(zeros({0, 3}), zeros({3})).shape() == Shape{0, 3});
    CHECK(binary.op(zeros({3, 0}), zeros({3, 1})).shape() == Shape{3, 0});
    CHECK(binary.op(zeros({0}), scalar(1)).shape() == Shape{0});
    Tensor row = ones({3});
    row.requires_grad();
    backward(sum(binary.op(zeros({0, 3}), row)));
    CHECK(equal(row.grad(), zeros({3})));
  }
  for (const Unary& unary : unary_ops) CHECK(unary.op(zeros({2, 0})).shape() == Shape{2, 0});
}

TEST_CASE("shapes that do not broadcast are refused, naming the op") {
  const Tensor a = zeros({2, 3}), b = zeros({4});
  const std::string rest = ": (2,3) and (4) do not broadcast: axis 1 from the right is 3 and 4";
  CHECK_THROWS_WITH_AS(a + b, ("add" + rest).c_str(), Error);
  CHECK_THROWS_WITH_AS(a - b, ("sub" + rest).c_str(), Error);
  CHECK_THROWS_WITH_AS(a * b, ("mul" + rest).c_str(), Error);
  CHECK_THROWS_WITH_AS(a / b, ("div" + rest).c_str(), Error);
  CHECK_THROWS_WITH_AS(where(zeros({5}), a, a),
                       "where: (2,3) and (5) do not broadcast: axis 1 from the right is 3 and 5", Error);
  CHECK_THROWS_WITH_AS(broadcast_to(a, {3}), "broadcast_to: (2,3) does not stretch to (3)", Error);
}

TEST_CASE("where takes one side or the other, and its gradient goes to the side taken") {
  const struct {
    Shape condition, a, b;
  } cases[] = {{{3, 5}, {3, 5}, {3, 5}},
               {{5}, {3, 5}, {}},
               {{3, 1}, {1, 5}, {3, 1}},
               {{2, 1, 1}, {5}, {3, 1}},
               {{}, {2}, {2}}};
  for (const auto& c : cases) {
    const Tensor a = random_tensor(c.a, 1), b = random_tensor(c.b, 2), draw = random_tensor(c.condition, 3);
    const Tensor condition =
        from_formula(c.condition, [&](const At& i) { return element(draw, i) > 0 ? 1 : 0; });
    const Shape out = broadcast_shape("test", broadcast_shape("test", c.a, c.b), c.condition);
    check_close(where(condition, a, b), from_formula(out, [&](const At& i) {
                  return element(condition, i) != 0 ? element(a, i) : element(b, i);
                }));
    check_gradients([&](const auto& in) { return where(condition, in[0], in[1]); }, {a, b});
  }
}

TEST_CASE("where writes even -inf without a trace in the gradient") {
  Tensor x = tensor({{1, 2, 3}, {4, 5, 6}}).requires_grad();
  const Tensor y = where(tensor({0, 1, 0}), scalar(-infinity), x);
  CHECK(y.values() == std::vector<real>{1, -infinity, 3, 4, -infinity, 6});
  backward(sum(softmax(y) * tensor({1, 0, 2})));
  CHECK(x.grad()(0, 1) == 0);
  CHECK(x.grad()(1, 1) == 0);
  CHECK(x.grad()(0, 0) < 0);
}

TEST_CASE("broadcast_to repeats, and its gradient adds up") {
  const struct {
    Shape from, to;
  } cases[] = {{{}, {3}}, {{3}, {2, 3}}, {{3, 1}, {3, 4}}, {{1, 3, 1}, {2, 3, 5}}, {{1, 1}, {4, 1, 3}}};
  for (const auto& c : cases) {
    const Tensor x = random_tensor(c.from);
    check_close(broadcast_to(x, c.to), from_formula(c.to, [&](const At& i) { return element(x, i); }));
    check_gradients([&](const auto& in) { return broadcast_to(in[0], c.to) * 2; }, {x});
  }
}

TEST_CASE("gelu has the values of the erf form, or those of the tanh form by a flag") {
  check_close(gelu(tensor({-0.5, 0, 1, 3})), tensor({-0.15426877, 0, 0.84134475, 2.99595031}), 1e-7);
  check_close(gelu(tensor({-0.5, 0, 1, 3}), true), tensor({-0.15428599, 0, 0.84119199, 2.99636295}), 1e-7);
}

TEST_CASE("powers at zero have the derivatives PyTorch gives them") {
  for (const int p : {0, 1, 2}) {
    Tensor x = scalar(0).requires_grad();
    const Tensor y = pow(x, real(p));
    CHECK(y.item() == (p == 0 ? 1 : 0));
    backward(y);
    CHECK(x.grad().item() == (p == 1 ? 1 : 0));
  }
}

TEST_CASE("a quotient and its gradients are finite wherever they can be") {
  for (const double size : {1e20, 1e-25}) {
    Tensor x = scalar(real(size)).requires_grad(), y = scalar(real(size)).requires_grad();
    backward(x / y);
    CHECK(double(x.grad().item()) * size == doctest::Approx(1).epsilon(1e-6));
    CHECK(double(y.grad().item()) * size == doctest::Approx(-1).epsilon(1e-6));
    y.zero_grad();
    backward(real(size) / y);
    CHECK(double(y.grad().item()) * size == doctest::Approx(-1).epsilon(1e-6));
  }
  const real tiny = real(1e-39);  // 1 / tiny is no float
  Tensor x = scalar(real(1e-10)).requires_grad();
  const Tensor quotient = x / tiny;
  CHECK(double(quotient.item()) == doctest::Approx(1e29).epsilon(1e-6));
  backward(quotient, scalar(real(1e-10)));
  CHECK(double(x.grad().item()) == doctest::Approx(1e29).epsilon(1e-6));
}

TEST_CASE("a tensor divided by a number is each element divided, rounded once") {
  const Tensor x = random_tensor({1000});
  for (const real number : {real(3), real(41), real(0.1)}) {
    const Tensor y = x / number;
    for (Index i = 0; i < x.numel(); ++i) REQUIRE(y(i) == x(i) / number);
  }
}

TEST_CASE("relu passes nothing on at zero") {
  Tensor x = tensor({-1, 0, 2}).requires_grad();
  backward(sum(relu(x)));
  CHECK(x.grad().values() == std::vector<real>{0, 0, 1});
}

TEST_CASE("activations saturate without NaN") {
  Tensor x = tensor({-1000, -100, 100, 1000}).requires_grad();
  CHECK(sigmoid(x).values() == std::vector<real>{0, sigmoid(x).values()[1], 1, 1});
  CHECK(tanh(x).values() == std::vector<real>{-1, -1, 1, 1});
  for (const Activation f : {Activation::sigmoid, Activation::tanh, Activation::silu, Activation::gelu,
                             Activation::gelu_tanh, Activation::relu}) {
    x.zero_grad();
    backward(sum(activate(x, f)));
    for (const real g : x.grad().values()) CHECK(std::isfinite(g));
  }
  CHECK(exp(tensor({-1000, 1000})).values() == std::vector<real>{0, std::numeric_limits<real>::infinity()});
}

}  // namespace
}  // namespace attn
