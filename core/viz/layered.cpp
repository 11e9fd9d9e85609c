#include "core/viz/layered.hpp"

#include <algorithm>  // max, min, stable_sort
#include <limits>     // numeric_limits
#include <utility>    // move

#include "core/error.hpp"

namespace attn::viz {

namespace {

constexpr double bend_size = 10;

class LayoutMaker {
 public:
  LayoutMaker(std::vector<LayeredItem> boxes, const std::vector<LayeredLink>& links, double gap,
              double lane_gap)
      : links_(links), gap_(gap), lane_gap_(lane_gap) {
    result_.items = std::move(boxes);
    for (const LayeredLink& link : links) {
      const int count = static_cast<int>(result_.items.size());
      if (link.from < 0 || link.to < 0 || link.from >= count || link.to >= count)
        fail("graph: an edge from {} to {}, but the nodes are 0..{}", link.from, link.to, count - 1);
    }
  }

  Layered make() {
    choose_layers();
    add_bends();
    choose_order();
    choose_places();
    return std::move(result_);
  }

 private:
  const std::vector<LayeredLink>& links_;
  double gap_, lane_gap_;
  Layered result_;
  std::vector<std::vector<int>> order_;  // the items of each layer

  LayeredItem& item(int i) { return result_.items[static_cast<std::size_t>(i)]; }

  // The longest way from a start decides; a start itself moves up to just before its first use.
  void choose_layers() {
    const int count = static_cast<int>(result_.items.size());
    bool moved = true;
    for (int round = 0; moved; ++round) {
      if (round > count) fail("graph: the edges form a cycle, so nothing can come first");
      moved = false;
      for (const LayeredLink& link : links_)
        if (item(link.to).layer <= item(link.from).layer) {
          item(link.to).layer = item(link.from).layer + 1;
          moved = true;
        }
    }
    for (int i = 0; i < count; ++i) {
      int first_use = std::numeric_limits<int>::max();
      for (const LayeredLink& link : links_)
        if (link.from == i) first_use = std::min(first_use, item(link.to).layer);
      if (item(i).layer == 0 && first_use != std::numeric_limits<int>::max()) item(i).layer = first_use - 1;
      result_.layers = std::max(result_.layers, item(i).layer + 1);
    }
  }

  void add_bends() {
    for (const LayeredLink& link : links_) {
      LayeredEdge edge{{link.from}};
      const int last = item(link.to).layer;
      for (int layer = item(link.from).layer + 1; layer < last; ++layer) {
        edge.items.push_back(static_cast<int>(result_.items.size()));
        result_.items.push_back({.size = bend_size, .lane = item(link.from).lane, .layer = layer});
      }
      edge.items.push_back(link.to);
      for (std::size_t i = 1; i < edge.items.size(); ++i) {
        item(edge.items[i - 1]).after.push_back(edge.items[i]);
        item(edge.items[i]).before.push_back(edge.items[i - 1]);
      }
      result_.edges.push_back(edge);
    }
    order_.resize(static_cast<std::size_t>(result_.layers));
    for (int i = 0; i < static_cast<int>(result_.items.size()); ++i)
      order_[static_cast<std::size_t>(item(i).layer)].push_back(i);
  }

  void number_places() {
    for (const std::vector<int>& layer : order_)
      for (std::size_t i = 0; i < layer.size(); ++i) item(layer[i]).across = static_cast<double>(i);
  }

  int crossings() {
    int count = 0;
    for (const std::vector<int>& layer : order_)
      for (std::size_t i = 0; i < layer.size(); ++i)
        for (std::size_t k = i + 1; k < layer.size(); ++k)
          for (const int a : item(layer[i]).after)
            for (const int b : item(layer[k]).after) count += item(a).across > item(b).across;
    return count;
  }

  // Each item moves to the mean place of its neighbours, sweeping back and forth; the best order seen is
  // kept.
  void choose_order() {
    const auto sort = [&](std::vector<int>& layer, bool by_before) {
      std::vector<double> mean(result_.items.size());
      for (const int i : layer) {
        const std::vector<int>& neighbours = by_before ? item(i).before : item(i).after;
        double sum = 0;
        for (const int other : neighbours) sum += item(other).across;
        mean[static_cast<std::size_t>(i)] =
            neighbours.empty() ? item(i).across : sum / static_cast<double>(neighbours.size());
      }
      std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) {
        if (item(a).lane != item(b).lane) return item(a).lane < item(b).lane;
        return mean[static_cast<std::size_t>(a)] < mean[static_cast<std::size_t>(b)];
      });
      for (std::size_t i = 0; i < layer.size(); ++i) item(layer[i]).across = static_cast<double>(i);
    };
    for (std::vector<int>& layer : order_)
      std::stable_sort(layer.begin(), layer.end(), [&](int a, int b) { return item(a).lane < item(b).lane; });
    number_places();
    std::vector<std::vector<int>> best = order_;
    int fewest = crossings();
    for (int sweep = 0; sweep < 16 && fewest > 0; ++sweep) {
      if (sweep % 2 == 0)
        for (std::size_t i = 1; i < order_.size(); ++i) sort(order_[i], true);
      else
        for (std::size_t i = order_.size() - 1; i-- > 0;) sort(order_[i], false);
      const int count = crossings();
      if (count < fewest) fewest = count, best = order_;
    }
    order_ = best;
    number_places();
  }

  // The places nearest to `wanted` (least squares) that keep the order and the room between neighbours: pool
  // adjacent violators, on places from which the room is already subtracted.
  void settle(const std::vector<int>& row, const std::vector<double>& wanted) {
    struct Block {
      double sum, count;
    };
    std::vector<double> offset(row.size(), 0);
    for (std::size_t i = 1; i < row.size(); ++i)
      offset[i] = offset[i - 1] + (item(row[i - 1]).size + item(row[i]).size) / 2 + gap_;
    std::vector<Block> blocks;
    for (std::size_t i = 0; i < row.size(); ++i) {
      blocks.push_back({wanted[i] - offset[i], 1});
      while (blocks.size() > 1 && blocks[blocks.size() - 2].sum / blocks[blocks.size() - 2].count >
                                      blocks.back().sum / blocks.back().count) {
        const Block last = blocks.back();
        blocks.pop_back();
        blocks.back() = {blocks.back().sum + last.sum, blocks.back().count + last.count};
      }
    }
    std::size_t i = 0;
    for (const Block& block : blocks)
      for (double k = 0; k < block.count; ++k, ++i) item(row[i]).across = block.sum / block.count + offset[i];
  }

  // Lanes are placed one by one, each by itself, and then set side by side.
  void choose_places() {
    std::vector<int> lanes;
    for (const LayeredItem& each : result_.items) lanes.push_back(each.lane);
    std::sort(lanes.begin(), lanes.end());
    lanes.erase(std::unique(lanes.begin(), lanes.end()), lanes.end());
    for (const int lane : lanes) {
      std::vector<std::vector<int>> rows(order_.size());
      for (std::size_t i = 0; i < order_.size(); ++i)
        for (const int member : order_[i])
          if (item(member).lane == lane) rows[i].push_back(member);
      for (const std::vector<int>& row : rows) settle(row, std::vector<double>(row.size(), 0.0));
      for (int sweep = 0; sweep < 40; ++sweep)
        for (std::size_t step = 0; step < rows.size(); ++step) {
          const bool forward = sweep % 2 == 0;
          const std::vector<int>& row = rows[forward ? step : rows.size() - 1 - step];
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

Layered lay_out(std::vector<LayeredItem> boxes, const std::vector<LayeredLink>& links, double gap,
                double lane_gap) {
  return LayoutMaker(std::move(boxes), links, gap, lane_gap).make();
}

}  // namespace attn::viz
