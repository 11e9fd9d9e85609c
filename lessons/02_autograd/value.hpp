// Value: a number that remembers how it was computed. The heart of lesson 02.
//
//   Graph graph;
//   const Value w = number(graph, 3, "w"), x = number(graph, 2, "x"), y = w * x + x;
//
// Every operation appends a node to the graph: its value, what it was computed from, and its derivative with
// respect to each of these. That is the whole of calculus that is needed.
#pragma once

#include <cmath>   // exp, log, tanh
#include <string>  // string
#include <vector>  // vector

namespace attn {

struct Node {
  std::string name;
  double value;
  std::vector<int> inputs = {};
  std::vector<double> derivatives = {};  // d value / d inputs[n]
  double gradient = 0;                   // d loss / d value, filled in by backward
};
using Graph = std::vector<Node>;  // in the order in which they were computed

struct Value {
  Graph* graph;
  int id;
  Node& node() const { return (*graph)[id]; }
  double value() const { return node().value; }
};

inline Value append(Graph& graph, const Node& node) {
  graph.push_back(node);
  return {&graph, int(graph.size()) - 1};
}
inline Value number(Graph& graph, double value, const std::string& name = "") {
  return append(graph, {name, value});
}
inline Value named(const Value& value, const std::string& name) {
  value.node().name = name;
  return value;
}

inline Value operator+(const Value& a, const Value& b) {
  return append(*a.graph, {"", a.value() + b.value(), {a.id, b.id}, {1, 1}});
}
inline Value operator-(const Value& a, const Value& b) {
  return append(*a.graph, {"", a.value() - b.value(), {a.id, b.id}, {1, -1}});
}
inline Value operator*(const Value& a, const Value& b) {
  return append(*a.graph, {"", a.value() * b.value(), {a.id, b.id}, {b.value(), a.value()}});
}
inline Value exp(const Value& a) {
  const double e = std::exp(a.value());
  return append(*a.graph, {"", e, {a.id}, {e}});
}
inline Value log(const Value& a) {
  return append(*a.graph, {"", std::log(a.value()), {a.id}, {1 / a.value()}});
}
inline Value tanh(const Value& a) {
  const double t = std::tanh(a.value());
  return append(*a.graph, {"", t, {a.id}, {1 - t * t}});
}

}  // namespace attn
