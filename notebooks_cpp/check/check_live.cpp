#include "notebooks_cpp/check/check_live.hpp"

#include <fmt/core.h>  // format, print

#include <cstdio>   // pclose, popen
#include <utility>  // pair

#include "core/atomic_file.hpp"
#include "core/base64.hpp"
#include "core/text.hpp"  // read_file
#include "notebooks_cpp/check/check_pages.hpp"
#include "notebooks_cpp/check/live_scripts.hpp"
#include "optim/safetensors.hpp"

namespace attn::press {

namespace fs = std::filesystem;

namespace {

constexpr const char* native_program = "build/live_answers";
constexpr auto patience = Chromium::Seconds(300);  // thirty steps take a second; the machine may be busy

const std::vector<std::string> sentences = {
    "The black horse does not want the small red apples.",
    "The cat sleeps.",
    "I like the white.",
    "The king sees the queen.",
    "The dog eats.",
    "The girls are not kind.",
    "I do not see the small cat.",
    "The horse sleeps.",
    "The queen likes the king.",
    "The small dogs want the apples.",
};

Message translations() {
  Message requests = Message::array();
  for (const std::string& text : sentences) requests.push_back({{"do", "translate"}, {"text", text}});
  return requests;
}

// The native program's answers.
std::vector<Message> native(const Message& requests, const fs::path& folder) {
  const fs::path asked = folder / "live-requests.txt";
  std::string lines;
  for (const Message& request : requests) lines += request.dump() + "\n";
  write_file_atomically(asked, {lines});
  const std::string command = fmt::format("ATTN_KERNELS=baseline {} <'{}'", native_program, asked.string());
  FILE* program = popen(command.c_str(), "r");
  if (!program) fail("{} cannot be run", native_program);
  std::string text;
  char bytes[4096];
  while (const std::size_t count = std::fread(bytes, 1, sizeof bytes, program)) text.append(bytes, count);
  pclose(program);
  fs::remove(asked);
  std::vector<Message> answers;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    answers.push_back(Message::parse(text.substr(begin, end - begin)));
  if (answers.size() != requests.size())
    fail("{} gave {} answers to {} requests", native_program, answers.size(), requests.size());
  return answers;
}

// The page's answers, asked one after the other.
Message live(Chromium& browser, const Message& requests) {
  return browser.evaluate(fmt::format("(async () => {{ const answers = []; for (const request of {}) "
                                      "answers.push(await live.ask(request)); return answers; }})()",
                                      requests.dump()),
                          patience);
}

// The first difference, if there is one.
void compare(const Message& page, const std::vector<Message>& native, const std::string& what,
             std::set<std::string>& faults) {
  for (std::size_t i = 0; i < native.size(); ++i)
    for (const char* field : {"error", "translation", "losses", "weights", "words", "way"}) {
      const Message ours = page[i].value(field, Message()), theirs = native[i].value(field, Message());
      if (ours == theirs) continue;
      faults.insert(fmt::format("{}: {} is {:.120} on the page, {:.120} in the native program", what, field,
                                ours.dump(), theirs.dump()));
      return;
    }
}

// Gives the page a file as a reader does: dropped in the middle of the window, or chosen in its file picker.
void drop(Chromium& browser, const fs::path& file) {
  const Message data = {{"items", Message::array()}, {"files", {file.string()}}, {"dragOperationsMask", 1}};
  for (const char* type : {"dragEnter", "dragOver", "drop"})
    browser.call("Input.dispatchDragEvent", {{"type", type}, {"x", 300}, {"y", 300}, {"data", data}});
}
void pick(Chromium& browser, const fs::path& file) {
  const Message input =
      browser.call("Runtime.evaluate", {{"expression", "document.querySelector('.models input')"}});
  browser.call("DOM.setFileInputFiles",
               {{"files", {file.string()}}, {"objectId", input["result"]["objectId"]}});
}

// The weights in `from`, but the first matrix lies on its side.
void write_turned(const fs::path& from, const fs::path& to) {
  const SafetensorsFile file = SafetensorsFile::open(from);
  std::vector<ArrayView> arrays;
  bool turned = false;
  for (const std::string& name : file.names()) {
    const Shape shape = file.shape(name);
    const bool turn = !turned && shape.rank() == 2 && shape[0] != shape[1];
    turned = turned || turn;
    arrays.push_back({name, turn ? Shape{shape[1], shape[0]} : shape, file.in_place(name, shape)});
  }
  write_safetensors(to, arrays, with_checksum(arrays, file.metadata()));
}

// Weights that the native program has trained and saved: the page translates with them as it does. A wrong
// file gets one line on the page, and the model stays.
void check_files(Chromium& browser, const fs::path& folder, std::set<std::string>& faults) {
  const fs::path good = folder / "native.safetensors", text = folder / "text.safetensors",
                 half = folder / "half.safetensors", turned = folder / "turned.safetensors";
  Message requests = {{{"do", "start"}, {"seed", 5}, {"pairs", 3000}, {"steps", 40}},
                      {{"do", "train"}, {"steps", 40}},
                      {{"do", "save"}, {"path", good.string()}},
                      {{"do", "weights"}}};
  for (const Message& request : translations()) requests.push_back(request);
  std::vector<Message> answers = native(requests, folder);
  answers.erase(answers.begin(), answers.begin() + 3);
  requests.erase(requests.begin(), requests.begin() + 3);
  const std::string bytes = read_file(good);
  write_file_atomically(text, {"Le chat dort.\n"});
  write_file_atomically(half, {bytes.substr(0, bytes.size() / 2)});
  write_turned(good, turned);

  for (const auto give : {drop, pick}) {
    const char* how = give == drop ? "a dropped file" : "a chosen file";
    const Message other = {{{"do", "start"}, {"seed", 6}, {"pairs", 300}}};
    live(browser, other);
    give(browser, good);
    const std::string shown = browser.evaluate(
        fmt::format("{}({})", wait_for_translation, answers[1]["translation"].dump()), patience);
    if (!shown.empty()) faults.insert(fmt::format("{}: {}", how, shown));
    compare(live(browser, requests), answers, how, faults);
    for (const auto& [wrong, why] : {std::pair(text, "not a safetensors file"), std::pair(half, "truncated"),
                                     std::pair(turned, "shape")}) {
      give(browser, wrong);
      const std::string said = browser.evaluate(
          fmt::format("{}({})", wait_for_file_problem, Message(wrong.filename()).dump()), patience);
      if (said.find(why) == said.npos)
        faults.insert(fmt::format("{}, {}: the page says \"{}\"", how, wrong.filename().string(), said));
      compare(live(browser, requests), answers, "after " + wrong.filename().string(), faults);
    }
  }
  for (const fs::path& file : {good, text, half, turned}) fs::remove(file);
}

}  // namespace

std::set<std::string> check_live_page(Chromium& browser, const fs::path& root) {
  std::set<std::string> faults;
  const fs::path folder = root / "pages", weights = root / "13_translator" / "en-fr.safetensors";
  const bool embedded = browser.evaluate("live.ready.then(() => live.set.model === 'en-fr')", patience);
  const Message used = browser.evaluate(fmt::format("{}()", use_live_page), patience);
  for (const std::string fault : used["faults"]) faults.insert(fault);
  fmt::print("The live page translates, with all its maps, in {:.0f} ms\n", used["quickest"].get<double>());

  if (embedded) {
    Message requests = translations(), theirs = requests;
    theirs.insert(theirs.begin(), Message{{"do", "load"}, {"path", weights.string()}});
    requests.insert(requests.begin(), Message{{"do", "load"}, {"path", "/model.safetensors"}});
    const std::vector<Message> answers = native(theirs, folder);
    compare(live(browser, requests), answers, "with the trained model", faults);
    if (answers[1]["translation"] != "Le cheval noir ne veut pas les petites pommes rouges.")
      faults.insert("the trained model does not translate: " + answers[1]["translation"].dump());
  }
  Message requests = {{{"do", "start"}, {"seed", 3}, {"pairs", 3000}, {"steps", 30}},
                      {{"do", "train"}, {"steps", 30}},
                      {{"do", "weights"}}};
  for (const Message& request : translations()) requests.push_back(request);
  const Message trained = live(browser, requests);
  compare(trained, native(requests, folder), "after thirty steps", faults);

  const std::string saved = browser.evaluate(read_saved_weights, patience);
  const fs::path file = folder / "live.safetensors";
  write_file_atomically(file, {decode_base64(saved)});
  Message again = translations();
  again.insert(again.begin(), Message{{"do", "load"}, {"path", file.string()}});
  const std::vector<Message> loaded = native(again, folder);
  fs::remove(file);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    if (loaded[1 + i].value("translation", "") != trained[3 + i].value("translation", "-"))
      faults.insert(fmt::format("weights saved by the page translate {} differently in the native program",
                                sentences[i]));
  check_files(browser, folder, faults);
  return faults;
}

}  // namespace attn::press
