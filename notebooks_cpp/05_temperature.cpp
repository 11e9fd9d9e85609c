// %% [markdown]
// # Temperature
//
// A language model never says anything. For each next character it gives a list of probabilities, and
// there its part ends. Somebody else has to draw. *How much of what we call its style is the model, and
// how much is the dice?*
//
// We train a small GPT, which takes a few seconds, and from then on we only play with the dice.
//
// ## What we need
//
// A text (small stories that a grammar writes), a model of characters, and the usual training: read a
// window of the text, guess at each place what comes next.

// %%
#include <algorithm>  // count_if, mismatch
#include <cmath>      // log
#include <iterator>  // ssize
#include <set>        // set

#include "nn/decode.hpp"
#include "nn/text/toy_languages.hpp"
#include "nn/text/characters.hpp"  // printable
#include "nn/text/vocabulary.hpp"
#include "notebooks_cpp/notebook.hpp"
#include "optim/trainer.hpp"

using namespace attn;

std::string stories(Index count, std::uint64_t seed) {
  std::string text;
  for (const std::string& story : small_stories(count, seed)) text += story + "\n";
  return text;
}

struct Windows {
  IntTensor reads, writes;  // (B, T): writes is reads, one character on
};

Windows windows_of(const std::vector<int>& text, Index B, Index T, std::uint64_t seed) {
  Rng rng(seed);
  Windows windows{IntTensor({B, T}), IntTensor({B, T})};
  for (Index b = 0; b < B; ++b) {
    const Index start = rng.below(std::ssize(text) - T);
    for (Index t = 0; t < T; ++t)
      windows.reads(b, t) = text[start + t], windows.writes(b, t) = text[start + t + 1];
  }
  return windows;
}

std::vector<double> train_gpt(const Gpt& model, const std::vector<int>& text, Index steps) {
  Adam adam(parameters_of(model), adamw());
  std::vector<double> losses;
  const Index T = model.config.max_length;
  const std::uint64_t first = 100000 * notebook::seed();  // the batch of a step is a function of its number
  const Schedule schedule{
      .kind = ScheduleKind::cosine, .peak = 4e-3, .warmup = 20, .total = steps, .floor = 2e-4};
  train(adam, {.steps = steps, .schedule = schedule, .progress = false},
        {.loss = [&](Index batch) {
          const Windows windows = windows_of(text, 16, T, first + std::uint64_t(batch));
          const Tensor loss = cross_entropy(model(windows.reads, {.training = true}), windows.writes);
          losses.push_back(loss.item());
          return StepLoss{loss, 0};
        }});
  return losses;
}

// %% [markdown]
// Three questions to the model: what are the scores for the next character, what does it write, and how
// surprised is it, on average, by a text?

// %%
Tensor scores_after(const Gpt& model, const Vocabulary& vocabulary, const std::string& text) {  // (V)
  const NoGrad no_grad;
  const std::vector<int> ids = vocabulary.encode(text);
  GptWriter writer(model);
  return writer.next(IntTensor({1, std::ssize(ids)}, ids))[0];
}

// `rows` texts that continue one prompt.
std::vector<std::string> write_on(const Gpt& model, const Vocabulary& vocabulary, const std::string& prompt,
                                  Index rows, const SampleOptions& options, std::uint64_t seed) {
  const std::vector<int> ids = vocabulary.encode(prompt);
  const IntTensor prompts({rows, std::ssize(ids)});
  for (Index i = 0; i < prompts.numel(); ++i) prompts[i] = ids[i % ids.size()];
  GptWriter writer(model, rows);
  Rng rng(seed);
  std::vector<std::string> texts;
  for (const auto& text : sample(writer, prompts, options, rng)) texts.push_back(vocabulary.decode(text));
  return texts;
}

// The columns [begin, end) of a batch.
IntTensor columns(const IntTensor& ids, Index begin, Index end) {
  const IntTensor part({ids.shape()[0], end - begin});
  for (Index b = 0; b < ids.shape()[0]; ++b)
    for (Index t = begin; t < end; ++t) part(b, t - begin) = ids(b, t);
  return part;
}

Tensor scores_in_second_half(const Gpt& model, const IntTensor& reads) {  // (B, T) -> (B, T/2, V)
  const NoGrad no_grad;
  const Index T = reads.shape()[1];
  return slice(model(reads), 1, T / 2, T);
}

// How surprised is it by the second half of each window, once it has read the first? In nats per character.
double surprise(const Gpt& model, const Windows& windows, double temperature = 1) {
  const Index T = windows.reads.shape()[1];
  const Tensor z = scores_in_second_half(model, windows.reads) / real(temperature);
  return cross_entropy(z, columns(windows.writes, T / 2, T)).item();
}

// The same, if each single character had been drawn at this temperature.
double surprise_by_draw(const Gpt& model, const Windows& windows, double temperature) {
  const Tensor z = scores_in_second_half(model, windows.reads);
  return -mean(sum(softmax(z / real(temperature)) * log_softmax(z), -1)).item();
}

// The same windows, but the model itself has written the second half, character after character.
Windows continued(const Gpt& model, const Windows& windows, double temperature) {
  const Index B = windows.reads.shape()[0], T = windows.reads.shape()[1], given = T / 2 + 1;
  GptWriter writer(model, B);
  Rng rng(7);
  const auto texts = sample(writer, columns(windows.reads, 0, given),
                            {.end = -1, .max_length = T / 2, .temperature = temperature}, rng);
  const Windows own{columns(windows.reads, 0, T), columns(windows.writes, 0, T)};
  for (Index b = 0; b < B; ++b)
    for (Index i = 0; i < T / 2; ++i) {
      own.writes(b, given - 1 + i) = texts[b][i];
      if (given + i < T) own.reads(b, given + i) = texts[b][i];
    }
  return own;
}

// %% [markdown]
// And some arithmetic on distributions and texts:

// %%
std::vector<double> distribution(const Tensor& scores, const SampleOptions& options) {
  return sampling_distribution(scores.data(), scores.numel(), options);
}

double entropy(const std::vector<double>& p) {  // nats
  double sum = 0;
  for (const double share : p)
    if (share > 0) sum -= share * std::log(share);
  return sum;
}

std::vector<int> likeliest(const Tensor& scores, Index count) {
  return top_k(scores, count).indices.values();
}

std::size_t still_in(const std::vector<double>& p) {
  return std::size_t(std::count_if(p.begin(), p.end(), [](double share) { return share > 0; }));
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = '/';
  return text;
}

struct Words {
  double known = 0, different = 0;  // % of the words that the stories have; different ones per hundred
};

Words words_in(const std::vector<std::string>& texts, const std::set<std::string>& known) {
  std::set<std::string> seen;
  double count = 0, hits = 0;
  for (const std::string& text : texts) {
    std::vector<std::string> words = split_words(text);
    if (!words.empty()) words.pop_back();  // it may be cut off
    for (const std::string& word : words) ++count, hits += known.count(word) ? 1 : 0, seen.insert(word);
  }
  return {100 * hits / count, 100 * double(seen.size()) / count};
}

// %% tags=["active-cpp"]
int main(int argc, char** argv) { return notebook::run(argc, argv, "05_temperature", [] {

// %% [markdown]
// ## A writer
//
// This is what it reads:

// %%
const std::string text = stories(notebook::fast() ? 400 : 3000, notebook::seed());
const std::vector<std::string> all_words = split_words(text);
const std::set<std::string> known(all_words.begin(), all_words.end());
const CharacterVocabulary vocabulary = CharacterVocabulary::learn({text});
const std::vector<int> training = vocabulary.encode(text);
const std::vector<int> unseen = vocabulary.encode(stories(200, notebook::seed() + 1000));
fmt::print("{}\n…\n{} characters, {} different words\n", text.substr(0, text.find('\n', 400)), text.size(),
           known.size());

// %%
Rng rng(notebook::seed());
const GptSize size{.vocabulary = vocabulary.size(), .d_model = 64, .heads = 4, .layers = 2, .max_length = 64};
const Gpt model(gpt_config(size), rng);
const std::vector<double> losses = train_gpt(model, training, notebook::fast() ? 200 : 1500);
notebook::show(viz::line_chart({{.name = "training", .y = losses, .smooth = 0.95}},
                               {.title = "Learning to write", .x_title = "step",
                                .y_title = "nats per character", .y_low = 0}),
               fmt::format("{} numbers. On stories it has not seen, {:.2f} nats per character.",
                           parameters_of(model).count(), surprise(model, windows_of(unseen, 100, 64, 99))));

// %% [markdown]
// ## One decision
//
// **Change this and run again:** the prompt, with words of the stories. What comes next?
//
// $$p_i = \frac{e^{z_i / \tau}}{\sum_j e^{z_j / \tau}}$$
//
// The scores $z_i$ are the model's. The temperature $\tau$ is ours.

// %%
const std::string prompt = "One day Anna took a ";
const Tensor z = scores_after(model, vocabulary, prompt);
const std::vector<int> top = likeliest(z, 9);
fmt::print("after `{}`\n     score   τ = 0.3    τ = 1    τ = 3\n", prompt);
for (const int id : top)
  fmt::print("{:>3} {:6.2f} {:8.1f}% {:7.1f}% {:7.1f}%\n", vocabulary.label(id), z(id),
             100 * distribution(z, {.temperature = 0.3})[id], 100 * distribution(z, {})[id],
             100 * distribution(z, {.temperature = 3})[id]);

// %%
const std::vector<double> dial = {0.1, 0.2, 0.3, 0.5, 0.7, 1, 1.4, 2, 3, 5};
const Index shown = 16;
const std::vector<int> candidates = likeliest(z, shown);
viz::Matrix map(std::ssize(dial), shown);
std::vector<std::string> dial_names, letters;
for (const int id : candidates) letters.push_back(vocabulary.label(id));
for (std::size_t i = 0; i < dial.size(); ++i) {
  const std::vector<double> p = distribution(z, {.temperature = dial[i]});
  for (Index j = 0; j < shown; ++j) map(i, j) = float(p[candidates[j]]);
  dial_names.push_back(fmt::format("{:g}", dial[i]));
}
notebook::show(viz::heatmap(map, {.title = "After “" + prompt + "”", .x_title = "next character",
                                  .y_title = "temperature", .row_labels = dial_names,
                                  .column_labels = letters, .low = 0, .value_title = "probability"}),
               "From top to bottom: it has decided, it weighs, it throws dice. The order never changes.");

// %% [markdown]
// ## Where are the decisions?
//
// Inside a word there is nothing to decide. At its beginning, everything. The entropy of the
// distribution says how much; here it is under each character of a sentence, as the model reads along:

// %%
const std::string line = vocabulary.decode({unseen.begin(), unseen.begin() + 44});
viz::Numbers doubts;
std::vector<std::string> characters_shown;
double at_start = 0, inside = 0, starts = 0, insides = 0;
for (std::size_t t = 1; t < line.size(); ++t) {
  const double doubt = entropy(distribution(scores_after(model, vocabulary, line.substr(0, t)), {}));
  doubts.push_back(doubt);
  characters_shown.push_back(printable(line.substr(t, 1)));
  if (line[t - 1] == ' ') at_start += doubt, ++starts;
  else inside += doubt, ++insides;
}
fmt::print("mean entropy in front of the first letter of a word: {:.2f} nats, elsewhere: {:.2f}\n",
           at_start / starts, inside / insides);
notebook::show(viz::bar_chart(characters_shown, doubts, {.title = "How open is the next character?",
                                                         .value_title = "entropy (nats)", .vertical = true,
                                                         .numbers = false, .width = 1000, .height = 320}),
               "Above each character: how undecided the model was just before it.");

// %% [markdown]
// ## The same dice
//
// Eight texts. The same prompt, the *same random numbers*, only the temperature differs:

// %%
const std::string opening = "The next day ";
std::string cooler;
for (const double temperature : {0.0, 0.2, 0.4, 0.6, 0.8, 1.0, 1.5, 2.5}) {
  const SampleOptions options{.end = -1, .max_length = 110, .temperature = temperature};
  const std::string written = write_on(model, vocabulary, opening, 1, options, 5)[0];
  const auto parting = std::mismatch(written.begin(), written.end(), cooler.begin(), cooler.end()).first;
  fmt::print("τ = {:.1f}  {}{}\n", temperature, opening, one_line(written));
  if (!cooler.empty()) fmt::print("         the first {} characters as above\n", parting - written.begin());
  cooler = written;
}

// %% [markdown]
// Two neighbours agree until one draw falls on the other side of a border. From then on they live in
// different stories. (A slash is the end of a story.) Temperature does not make a text stranger bit by
// bit. It decides at which crossing you turn off.
//
// **Change this and run again:** the seed 5.
//
// ## The cold end
//
// At $\tau = 0$ the likeliest character is taken each time. No dice, no mistakes. What does it write if
// you let it?

// %%
const Index long_text = notebook::fast() ? 300 : 2500;
for (const double temperature : {0.0, 1.0}) {
  const SampleOptions options{.end = -1, .max_length = long_text, .temperature = temperature};
  const std::string written = write_on(model, vocabulary, "\n", 1, options, 1)[0];
  std::set<std::string> starts_seen;
  int stories_begun = 0;
  for (std::size_t at = 0; (at = written.find('\n', at)) != std::string::npos; ++at)
    ++stories_begun, starts_seen.insert(written.substr(at + 1, 30));
  fmt::print("τ = {}: {} …\n  {} stories begin in {} characters, in {} different ways\n\n", temperature,
             written.substr(0, 330), stories_begun, long_text, starts_seen.size());
}

// %% [markdown]
// The likeliest text is not a typical one. A story that is likely at every step begins as most stories
// begin, with the name that most have, and so does the next. No real collection of stories looks like
// that.
//
// ## The whole dial
//
// So cold is dull, and hot is mad. Let us measure both, over many texts at each temperature: the share
// of words that exist in the stories, and the number of different words per hundred.

// %%
std::vector<double> temperatures;
for (double t = 0.1; t < 2.05; t += notebook::fast() ? 0.3 : 0.1) temperatures.push_back(t);
viz::Series exist{.name = "% of words that exist", .x = temperatures};
viz::Series different{.name = "different words per hundred", .x = temperatures};
for (const double temperature : temperatures) {
  const std::vector<std::string> texts =
      write_on(model, vocabulary, "\n", 40, {.end = -1, .max_length = 64, .temperature = temperature}, 3);
  const Words words = words_in(texts, known);
  exist.y.push_back(words.known), different.y.push_back(words.different);
}
notebook::show(viz::line_chart({exist, different},
                               {.title = "Dull, lively, mad", .x_title = "temperature",
                                .y_title = "%, and words per hundred", .y_low = 0, .y_high = 100}),
               "Read from left to right: more variety, and at some point words that nobody knows.");

// %% [markdown]
// ## A thermometer
//
// Which temperature is *right*? There is an answer. The model reads half a window of a story that it
// has not seen. We know how surprised it is by the rest, the real one. And we can work out how
// surprised it would be if each next character were drawn at temperature $\tau$ instead. Where the two
// agree, the dice are as surprising as the world.
//
// The second curve lets the model write the rest on its own at that temperature, and read it again:

// %%
const Windows probe = windows_of(unseen, notebook::fast() ? 20 : 100, 64, 99);
const double real_surprise = surprise(model, probe);
viz::Series draws{.name = "single draws in a real story", .x = temperatures, .points = true};
viz::Series own{.name = "texts of its own", .x = temperatures, .points = true};
for (const double temperature : temperatures) {
  draws.y.push_back(surprise_by_draw(model, probe, temperature));
  own.y.push_back(surprise(model, continued(model, probe, temperature)));
}
notebook::show(viz::line_chart({draws, own},
                               {.title = "How surprising are the dice?", .x_title = "temperature",
                                .y_title = "nats per character", .y_low = 0,
                                .x_guides = {{.at = 1, .label = "τ = 1"}},
                                .y_guides = {{.at = real_surprise, .label = "real stories"}}}),
               "Where a curve meets the dashed line, it is as surprising to the model as real stories are.");

// %% [markdown]
// Where the single draws cross the line, you can read the model's own temperature. Training drives it
// to 1: as long as it is anywhere else, turning all scores up or down a little would still lower the
// loss. Below 1 a model is timid, and would do better to believe in itself; above 1 it boasts. Here is
// the reading, and what it is worth:

// %%
double reading = 0.3;
while (reading < 2 && surprise_by_draw(model, probe, reading) < real_surprise) reading += 0.02;
fmt::print("the thermometer says {:.2f}\n", reading);
fmt::print("loss on unseen stories: {:.3f}, with all scores divided by {:.2f}: {:.3f}\n", real_surprise,
           reading, surprise(model, probe, reading));

// %% [markdown]
// If the curve of its own texts lies higher than the other, you see one more reason why people turn the
// dial down. An odd character does not only cost itself. The model has to go on from it, in a text as
// it has never read one, and there it is lost more easily.
//
// ## Cutting the tail
//
// At a high temperature the trouble comes from the long tail: forty unlikely characters, each with a
// small chance, and one of them comes up in every other word. *Top-k* lets only the $k$ likeliest into
// the draw, *top-p* the likeliest ones that together reach $p$. Both sound alike. Ask how many
// characters they leave at a crossing, and in the middle of a word:

// %%
const std::string inside_word = prompt + "ye";
const Tensor z_inside = scores_after(model, vocabulary, inside_word);
fmt::print("left in the draw at τ = 1 after  `{}`   `{}`\n", prompt, inside_word);
const std::vector<SampleOptions> cuts = {{}, {.top_k = 3}, {.top_k = 10}, {.top_p = 0.5}, {.top_p = 0.9}};
const std::vector<std::string> cut_names = {"everything", "top-k 3", "top-k 10", "top-p 0.5", "top-p 0.9"};
for (std::size_t i = 0; i < cuts.size(); ++i)
  fmt::print("  {:<30} {:22} {:24}\n", cut_names[i], still_in(distribution(z, cuts[i])),
             still_in(distribution(z_inside, cuts[i])));

// %% [markdown]
// Top-k leaves the same number everywhere, too few where there is a choice or too many where there is
// none. Top-p adapts. What that does to a text at $\tau = 1.5$:

// %%
for (std::size_t i = 0; i < cuts.size(); ++i) {
  SampleOptions hot = cuts[i];
  hot.end = -1, hot.max_length = 120, hot.temperature = 1.5;
  const std::vector<std::string> texts = write_on(model, vocabulary, prompt, 12, hot, 8);
  const Words words = words_in(texts, known);
  fmt::print("{:<10} {:3.0f}% known, {:2.0f} different per hundred: {}\n", cut_names[i], words.known,
             words.different, one_line(texts[0].substr(0, 80)));
}

// %% [markdown]
// ## Play on
//
// * Train longer: 4000 steps instead of 1500. Which bars of the entropy picture get shorter, and which
//   stay? Where the *stories* are open, no training can close them.
// * Put `{.top_p = 0.9}` into the whole dial. Up to which temperature do words exist now?
// * Replace `stories(…)` by a file of your own and find its thermometer reading. Lesson 15 shows how to
//   read one.
//
// Lesson 14 builds these draws from scratch and lesson 15 trains a larger sister of this model. And if
// you wondered what the machine was doing in the seconds while it trained: that is the next notebook.

// %% tags=["active-cpp"]
}); }
