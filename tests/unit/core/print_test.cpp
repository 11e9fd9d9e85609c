#include <doctest/doctest.h>

#include <limits>  // numeric_limits

#include "core/ops.hpp"

namespace attn {
namespace {

TEST_CASE("whole numbers are printed with a point and no digits, as NumPy does") {
  CHECK(tensor({1, 2, 3}).str() == "[1., 2., 3.]  shape (3)");
  CHECK(tensor({{1, -2}, {30, 4}}).str() ==
        "[[ 1., -2.],\n"
        " [30.,  4.]]  shape (2,2)");
  CHECK(scalar(7).str() == "7.  shape ()");
}

TEST_CASE("other numbers get four digits and columns that line up") {
  CHECK(tensor({0.5, -1.25, 100}).str() == "[  0.5000,  -1.2500, 100.0000]  shape (3)");
}

TEST_CASE("numbers of very different sizes are printed with powers of ten") {
  CHECK(tensor({0.00001, 2}).str() == "[1.0000e-05, 2.0000e+00]  shape (2)");
  CHECK(tensor({1.5e9, 2}).str() == "[1.5000e+09, 2.0000e+00]  shape (2)");
}

TEST_CASE("infinity and NaN have their names and do not change the format of the rest") {
  const real infinity = std::numeric_limits<real>::infinity();
  CHECK(tensor({1, infinity, -infinity}).str() == "[  1.,  inf, -inf]  shape (3)");
  CHECK(tensor({0.5, std::numeric_limits<real>::quiet_NaN()}).str() == "[0.5000,    nan]  shape (2)");
}

TEST_CASE("an empty line separates the matrices of a tensor of rank 3") {
  CHECK(reshape(arange(8), {2, 2, 2}).str() ==
        "[[[0., 1.],\n"
        "  [2., 3.]],\n"
        "\n"
        " [[4., 5.],\n"
        "  [6., 7.]]]  shape (2,2,2)");
}

TEST_CASE("the middle of a large tensor is left out, along each long axis") {
  CHECK(arange(2000).str() == "[   0.,    1.,    2., ..., 1997., 1998., 1999.]  shape (2000)");
  CHECK(reshape(arange(4000), {2, 2000}).str() ==
        "[[   0.,    1.,    2., ..., 1997., 1998., 1999.],\n"
        " [2000., 2001., 2002., ..., 3997., 3998., 3999.]]  shape (2,2000)");
  CHECK(reshape(arange(2000), {1000, 2}).str() ==
        "[[   0.,    1.],\n"
        " [   2.,    3.],\n"
        " [   4.,    5.],\n"
        " ...,\n"
        " [1994., 1995.],\n"
        " [1996., 1997.],\n"
        " [1998., 1999.]]  shape (1000,2)");
  CHECK(arange(1000).str().find("...") == std::string::npos);
}

TEST_CASE("tensors without elements and tensors that are none can be printed too") {
  CHECK(zeros({0}).str() == "[]  shape (0)");
  CHECK(zeros({2, 0}).str() == "[]  shape (2,0)");
  CHECK(Tensor().str() == "(empty tensor)");
  CHECK(IntTensor().str() == "(empty tensor)");
}

TEST_CASE("integers are printed plain, and fmt prints what str says") {
  const IntTensor ids({2, 2}, {1, -20, 300, 4});
  CHECK(ids.str() ==
        "[[  1, -20],\n"
        " [300,   4]]  shape (2,2)");
  const Tensor x = tensor({1, 2});
  CHECK(fmt::format("{}; {}", x, ids) == x.str() + "; " + ids.str());
}

}  // namespace
}  // namespace attn
