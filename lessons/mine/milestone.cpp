#include "lessons/mine/milestone.hpp"

#include <algorithm>  // max, min, replace_if, sort
#include <cctype>     // isalnum
#include <cmath>      // fabs
#include <map>        // map
#include <numeric>    // accumulate
#include <sstream>    // istringstream

namespace attn::mine {
namespace {

// Whose is what: a line for each part.
void show_parts(Lesson& lesson, const Parts& parts) {
  std::vector<std::vector<std::string>> rows;
  std::map<std::string, Index> place;
  Index yours = 0;
  for (const AnyPart* part : parts.all()) {
    const auto [found, fresh] = place.emplace(part->asked.part, std::ssize(rows));
    if (fresh) rows.push_back({part->asked.part, "", "", ""});
    const auto add = [&](Index column, const std::string& text) {
      std::string& cell = rows[found->second][column];
      cell += (cell.empty() ? "" : ", ") + text;
    };
    if (part->whose == Whose::ours) {
      add(2, part->asked.name);
      if (rows[found->second][3].find(part->advice()) == std::string::npos) add(3, part->advice());
    } else {
      yours += part->whose == Whose::mine;
      add(1, part->whose == Whose::mistake ? fmt::format("{} (with a mistake)", part->asked.name)
                                           : part->asked.name);
    }
  }
  lesson.table({"part", "yours", "ours", "to make it yours"}, rows);
  lesson.say("{} of {} functions are yours.", yours, parts.all().size());
  for (const std::string& remark : parts.remarks()) lesson.say("{}.", remark);
}

std::string time_text(double microseconds) {
  return microseconds < 1000 ? fmt::format("{:.1f} µs", microseconds)
                             : fmt::format("{:.2f} ms", microseconds / 1000);
}

std::string percent(double share) { return fmt::format("{:.0f}%", 100 * share); }

const AnyPart& mistaken_part(const Parts& parts) {
  for (const AnyPart* part : parts.all())
    if (part->whose == Whose::mistake) return *part;
  fail("no part has a mistake");
}

// One sentence, measured.
std::string what_it_did(const Trained& without, const Trained& with, const MistakeText& text) {
  if (!with.stopped.empty())
    return fmt::format("The training came to an end after {} steps: {}.", with.losses.size(), with.stopped);
  const double before = without.last_loss(), after = with.last_loss();
  if (without.losses.size() == 1)
    return std::fabs(after - before) < 0.01 * before + 1e-4
               ? fmt::format("These two sentences cost {:.4f} nats per word as before: nothing to be seen.",
                             after)
               : fmt::format("The right words now cost {:.3f} nats each instead of {:.3f}.", after, before);
  const std::string losses = fmt::format("The loss ends at {:.3f} instead of {:.3f}", after, before);
  const std::string scores =
      fmt::format("{} instead of {} {}", percent(with.score), percent(without.score), text.score);
  const bool same_loss = std::fabs(after - before) < 0.05 * before + 0.005,
             same_score = std::fabs(with.score - without.score) < 0.02;
  if (same_loss && same_score)
    return fmt::format("On this small model it does nothing that can be measured: {} against {} and {}.",
                       fmt::format("the losses end at {:.3f}", after), fmt::format("{:.3f}", before), scores);
  if (after < before && with.score < without.score)
    return fmt::format("{}, which looks better, but is not: {}.", losses, scores);
  return fmt::format("{}, and {}.", losses, scores);
}

}  // namespace

int run_milestone(int argc, char** argv, int number, const std::string& question, const MilestoneBody& body) {
  const Milestone& milestone = milestones().at(std::size_t(number - 1));
  PartsSettings settings{.milestone = number};
  const auto add_options = [&](Options& options) {
    options.add("--parts", &settings.parts,
                {.value = "LIST", .help = "whose parts to use: \"softmax=ours,product=multiply_ikj\""});
    options.add(
        "--mistake", &settings.mistake,
        {.value = "NAMES", .help = "a known mistake to put in, or several: \"scores: no scaling; …\""});
    options.add("--solutions", &settings.solutions, {.help = "as if our solutions were your files"});
    options.add("--checked", &settings.checked, {.help = "check every t(i, j) and v[i] of your code (slow)"});
  };
  return run_lesson(argc, argv, {milestone.name, question, add_options}, [&](Lesson& lesson) {
    PartsSettings plain = settings;
    plain.mistake.clear();
    const Parts parts(plain);
    Mistaken mistaken;
    std::istringstream names(settings.mistake);
    for (PartsSettings one = settings; std::getline(names, one.mistake, ';');) {
      one.mistake.erase(0, one.mistake.find_first_not_of(' '));
      if (!one.mistake.empty()) mistaken.push_back(std::make_unique<const Parts>(one));
    }
    show_parts(lesson, parts);
    watch_parts(lesson.fast ? 3 : 10);
    body(lesson, parts, mistaken);
  });
}

double Trained::last_loss() const {
  const Index count = std::max<Index>(1, std::ssize(losses) / 10);
  return std::accumulate(losses.end() - std::min(count, std::ssize(losses)), losses.end(), 0.0) /
         double(count);
}

Trained run_mistaken(const std::function<void(Trained& result)>& run) {
  Trained result;
  try {
    run(result);
  } catch (const Error& error) {
    result.stopped = error.what();
  }
  return result;
}

double worst_relative(const std::vector<double>& ours, const std::vector<double>& theirs, Index count) {
  double worst = 0;
  for (Index i = 0; i < std::min({count, std::ssize(ours), std::ssize(theirs)}); ++i)
    worst = std::max(worst, std::fabs(ours[i] - theirs[i]) / std::fabs(ours[i]));
  return worst;
}

void show_mistake(Lesson& lesson, const Parts& mistaken, const Trained& without, const Trained& with,
                  const MistakeText& text) {
  const AnyPart& part = mistaken_part(mistaken);
  lesson.section(fmt::format("With a mistake in {}: {}", part.asked.name, part.mistake));
  std::vector<viz::Image> pictures;
  if (without.losses.size() > 1)
    pictures = {viz::line_chart(
        {{.name = "as it should be", .y = without.losses, .smooth = 0.9},
         {.name = part.mistake, .y = with.losses, .smooth = 0.9}},
        {.title = "The same training twice", .x_title = "step", .y_title = "loss", .width = 560})};
  const auto map = [&](const viz::Matrix& matrix, const std::string& title) {
    return viz::heatmap(matrix, {.title = title,
                                 .x_title = text.x_title,
                                 .y_title = text.y_title,
                                 .row_labels = text.row_labels,
                                 .column_labels = text.column_labels,
                                 .low = 0,
                                 .high = 1,
                                 .cell = matrix.rows > 20 ? 8 : 0});
  };
  if (without.map.rows && with.map.rows) {
    pictures.push_back(map(without.map, text.map_title));
    pictures.push_back(map(with.map, "with the mistake"));
  }
  std::string file = part.asked.name + "-" + part.mistake + ".png";
  std::replace_if(
      file.begin(), file.end() - 4, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); }, '_');
  lesson.picture(file, viz::row(pictures, {.title = fmt::format("{}: {}", part.asked.name, part.mistake)}),
                 "What the mistake does",
                 "The same start, the same data, the same steps: only this one function differs.");
  lesson.say("{}", what_it_did(without, with, text));
}

void show_times(Lesson& lesson, const Parts& parts) {
  double all = 0;
  for (const AnyPart* part : parts.all()) all += part->seconds;
  std::vector<const AnyPart*> sorted(parts.all().begin(), parts.all().end());
  std::sort(sorted.begin(), sorted.end(),
            [](const AnyPart* a, const AnyPart* b) { return a->seconds > b->seconds; });
  std::vector<std::vector<std::string>> rows;
  std::string speed;
  for (const AnyPart* part : sorted) {
    if (part->whose == Whose::ours || rows.size() == 12) continue;
    std::vector<std::string> row = {
        part->asked.name, grouped(part->calls), percent(part->seconds / all), "", "", ""};
    if (const auto times = part->times()) {
      row[3] = time_text(times->used), row[4] = time_text(times->ours), row[5] = times->size;
      if (times->flop > 0)
        speed = fmt::format("Your product computes {:.1f} GFLOP/s, ours {:.1f}.",
                            times->flop / times->used / 1e3, times->flop / times->ours / 1e3);
    }
    rows.push_back(row);
  }
  if (rows.empty()) return;
  lesson.table({"function", "calls", "time in all", "yours", "ours", "for a call with"}, rows);
  if (!speed.empty()) lesson.say("{}", speed);
}

}  // namespace attn::mine
