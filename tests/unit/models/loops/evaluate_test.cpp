#include "models/loops/evaluate.h"

#include <gtest/gtest.h>

#include "models/loops/shape.h"
#include "nest.h"

namespace simtlab::models::loops {
namespace {

using namespace test;
using Op = Expression::Op;

Expression constant(std::int64_t v, unsigned bits = 32) { return {Op::constant, bits, v, {}, ""}; }

TEST(Evaluate, WrapsAtItsWidth) {
  const Point p;
  EXPECT_EQ(evaluate({Op::add, 32, 0, {constant(INT32_MAX), constant(1)}, ""}, p), INT32_MIN);
  EXPECT_EQ(evaluate({Op::zero_extend, 64, 0, {constant(-1)}, ""}, p), 0xffffffff);
  EXPECT_EQ(evaluate({Op::unsigned_max, 32, 0, {constant(-1), constant(5)}, ""}, p), -1);
  EXPECT_EQ(evaluate({Op::signed_divide, 32, 0, {constant(-7), constant(2)}, ""}, p), -3);
  EXPECT_EQ(evaluate({Op::divide, 32, 0, {constant(7), constant(0)}, ""}, p), std::nullopt);
}

TEST(Evaluate, IterationsArePolynomials) {
  Point p;
  p.iterations = {5};
  EXPECT_EQ(evaluate({Op::iteration, 32, 0, {constant(3), constant(2)}, ""}, p), 13);
  // 5 * 4 / 2
  EXPECT_EQ(evaluate({Op::iteration, 32, 0, {constant(0), constant(0), constant(1)}, ""}, p), 10);
}

TEST(Shape, TripsAndExecutions) {
  const Description nest = parse_description(nest_json(offset(columns, one), offset(columns, one)));
  const Shape s = shape_of(nest, {100, 50, std::nullopt, std::nullopt}, {});
  EXPECT_EQ(s.iterations, 5000);
  EXPECT_EQ(s.executions[3], 5000);
  EXPECT_EQ(s.executions[2], 5100);  // the inner test, once more for each row
  const Shape counted =
      shape_of(nest, {100, 50, std::nullopt, std::nullopt}, {{1, 101, 5100, 5000, 100, 1, 100}});
  EXPECT_TRUE(counted.measured);
  EXPECT_EQ(counted.trips, s.trips);
}

TEST(Shape, MissingAndEmptyAreRefused) {
  const Description nest = parse_description(nest_json(offset(columns, one), offset(columns, one)));
  const auto id = [&](std::optional<std::int64_t> n, std::optional<std::int64_t> m) -> std::string {
    try {
      shape_of(nest, {n, m, std::nullopt, std::nullopt}, {});
    } catch (const Error& e) { return e.id() + std::to_string(e.diagnostics().size()); }
    return "";
  };
  EXPECT_EQ(id(std::nullopt, std::nullopt), "loop-parameters2");
  EXPECT_EQ(id(10, 0), "loop-empty1");
  EXPECT_EQ(id(-5, 10), "loop-empty1");
  EXPECT_EQ(id(10, 10), "");
}

}  // namespace
}  // namespace simtlab::models::loops
