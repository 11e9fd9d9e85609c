#include "core/viz/layered.hpp"

#include <algorithm>  // max, min, stable_sort
#include <iterator>   // ssize
#include <limits>     // numeric_limits
#include <utility>    // move

#include "core/error.hpp"

namespace attn::viz {

namespace {

constexpr double bend_size = 10;

class LayoutMaker {
 public:
  LayoutMaker(std::vector<LayeredItem> boxes, const std::vector<GraphEdge>& edges, double gap,
              double lane_gap)
      : edges_(edges), gap_(gap), lane_gap_(lane_gap) {
    result_.items = std::move(boxes);
    const int count = int(result_.items.size());
    for (const GraphEdge& edge : edges)
      if (edge.from < 0 || edge.to < 0 || edge.from >= count || edge.to >= count)
        fail("graph: an edge from {} to {}, but the nodes are 0..{}", edge.from, edge.to, count - 1);
  }

  Layered make() {
    choose_layers();
    add_bends();
    choose_order();
    choose_places();
    return std::move(result_);
  }

 private:
  const std::vector<GraphEdge>& edges_;
  double gap_, lane_gap_;
  Layered result_;
  std::vector<std::vector<int>> order_;  // the items of each layer

  LayeredItem& item(int i) { return result_.items[i]; }

  // The longest way from a start decides; a start itself moves up to just before its first use.
  void choose_layers() {
    const int count = int(result_.items.size());
    bool moved = true;
    for (int round = 0; moved; ++round) {
      if (round > count) fail("graph: the edges form a cycle, so nothing can come first");
      moved = false;
      for (const GraphEdge& edge : edges_)
        if (item(edge.to).layer <= item(edge.from).layer) {
          item(edge.to).layer = item(edge.from).layer + 1;
          moved = true;
        }
    }
    for (int i = 0; i < count; ++i) {
      constexpr int never = std::numeric_limits<int>::max();
      int first_use = never;
      for (const GraphEdge& edge : edges_)
        if (edge.from == i) first_use = std::min(first_use, item(edge.to).layer);
      if (item(i).layer == 0 && first_use != never) item(i).layer = first_use - 1;
      result_.layers = std::max(result_.layers, item(i).layer + 1);
    }
  }

  void add_bends() {
    for (const GraphEdge& edge : edges_) {
      std::vector<int> path{edge.from};
      const int last = item(edge.to).layer;
      for (int layer = item(edge.from).layer + 1; layer < last; ++layer) {
        path.push_back(int(result_.items.size()));
        result_.items.push_back({.size = bend_size, .lane = item(edge.from).lane, .layer = layer});
      }
      path.push_back(edge.to);
      for (Index i = 1; i < std::ssize(path); ++i) {
        item(path[i - 1]).after.push_back(path[i]);
        item(path[i]).before.push_back(path[i - 1]);
      }
      result_.paths.push_back(path);
    }
    order_.resize(result_.layers);
    for (int i = 0; i < std::ssize(result_.items); ++i) order_[item(i).layer].push_back(i);
  }

  void number_places(const std::vector<int>& layer) {
    for (Index i = 0; i < std::ssize(layer); ++i) item(layer[i]).across = double(i);
  }

  int crossings() {
    int count = 0;
    for (const std::vector<int>& layer : order_)
      for (Index i = 0; i < std::ssize(layer); ++i)
        for (Index k = i + 1; k < std::ssize(layer); ++k)
          for (const int a : item(layer[i]).after)
            for (const int b : item(layer[k]).after) count += item(a).across > item(b).across;
    return count;
  }

  // Each item moves to the mean place of its neighbours, sweeping back and forth; the best order stays.
  void choose_order() {
    const auto sort = [&](std::vector<int>& layer, bool by_before) {
      std::vector<double> mean(result_.items.size());
      for (const int i : layer) {
        const std::vector<int>& neighbours = by_before ? item(i).before : item(i).after;
        double sum = 0;
        for (const int other : neighbours) sum += item(other).across;
        mean[i] = neighbours.empty() ? item(i).across : sum / double(neighbours.size());
      }
      std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) {
        if (item(a).lane != item(b).lane) return item(a).lane < item(b).lane;
        return mean[a] < mean[b];
      });
      number_places(layer);
    };
    for (std::vector<int>& layer : order_) {
      std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) { return item(a).lane < item(b).lane; });
      number_places(layer);
    }
    std::vector<std::vector<int>> best = order_;
    int fewest = crossings();
    for (int sweep = 0; sweep < 16 && fewest > 0; ++sweep) {
      if (sweep % 2 == 0)
        for (Index i = 1; i < std::ssize(order_); ++i) sort(order_[i], true);
      else
        for (Index i = std::ssize(order_) - 2; i >= 0; --i) sort(order_[i], false);
      const int count = crossings();
      if (count < fewest) fewest = count, best = order_;
    }
    order_ = best;
    for (const std::vector<int>& layer : order_) number_places(layer);
  }

  // The places nearest to `wanted` (least squares) that keep the order and the room between neighbours: pool
  // adjacent violators, on places from which the room is already subtracted.
  void settle(const std::vector<int>& row, const std::vector<double>& wanted) {
    struct Block {
      double sum, count;
      double mean() const { return sum / count; }
    };
    std::vector<double> offset(row.size(), 0);
    for (Index i = 1; i < std::ssize(row); ++i)
      offset[i] = offset[i - 1] + (item(row[i - 1]).size + item(row[i]).size) / 2 + gap_;
    std::vector<Block> blocks;
    for (Index i = 0; i < std::ssize(row); ++i) {
      blocks.push_back({wanted[i] - offset[i], 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].mean() > blocks.back().mean()) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back() = {blocks.back().sum + last.sum, blocks.back().count + last.count};
      }
    }
    Index i = 0;
    for (const Block& block : blocks)
      for (double k = 0; k < block.count; ++k, ++i) item(row[i]).across = block.mean() + offset[i];
  }

  // Lanes are placed one by one, each by itself, and then set side by side.
  void choose_places() {
    std::vector<int> lanes;
    for (const LayeredItem& each : result_.items) lanes.push_back(each.lane);
    std::sort(lanes.begin(), lanes.end());
    lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
    for (const int lane : lanes) {
      std::vector<std::vector<int>> rows(order_.size());
      for (Index i = 0; i < std::ssize(order_); ++i)
        for (const int member : order_[i])
          if (item(member).lane == lane) rows[i].push_back(member);
      for (const std::vector<int>& row : rows) settle(row, std::vector<double>(row.size(), 0.0));
      for (int sweep = 0; sweep < 40; ++sweep)
        for (Index step = 0; step < std::ssize(rows); ++step) {
          const bool forward = sweep % 2 == 0;
          const std::vector<int>& row = rows[forward ? step : std::ssize(rows) - 1 - step];
          std::vector<double> wanted;
          for (const int member : row) wanted.push_back(pull(member, lane, forward, sweep >= 30));
          settle(row, wanted);
        }
      double low = std::numeric_limits<double>::infinity(), high = -low;
      for (const std::vector<int>& row : rows)
        for (const int member : row) {
          low = std::min(low, item(member).across - item(member).size / 2);
          high = std::max(high, item(member).across + item(member).size / 2);
        }
      const double start = lane == lanes.front() ? 0 : result_.breadth + lane_gap_;
      for (const std::vector<int>& row : rows)
        for (const int member : row) item(member).across += start - low;
      result_.breadth = start + high - low;
    }
  }

  // Where the neighbours in its lane would like an item to be.
  double pull(int i, int lane, bool by_before, bool by_both) {
    double sum = 0, count = 0;
    const auto add = [&](const std::vector<int>& neighbours) {
      for (const int other : neighbours)
        if (item(other).lane == lane) sum += item(other).across, ++count;
    };
    if (by_before || by_both) add(item(i).before);
    if (!by_before || by_both) add(item(i).after);
    return count > 0 ? sum / count : item(i).across;
  }
};

}  // namespace

Layered lay_out(std::vector<LayeredItem> boxes, const std::vector<GraphEdge>& edges, double gap,
                double lane_gap) {
  return LayoutMaker(std::move(boxes), edges, gap, lane_gap).make();
}

}  // namespace attn::viz
