#include "notebooks_cpp/press/check_live.hpp"

#include <fmt/core.h>  // format

#include <cstdio>  // pclose, popen

#include "core/atomic_file.hpp"
#include "core/base64.hpp"
#include "notebooks_cpp/press/check_pages.hpp"
#include "notebooks_cpp/press/live_scripts.hpp"

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

Json translations() {
  Json requests = Json::array();
  for (const std::string& text : sentences) requests.push_back({{"do", "translate"}, {"text", text}});
  return requests;
}

// The native program's answers.
std::vector<Json> native(const Json& requests, const fs::path& folder) {
  const fs::path asked = folder / "live-requests.txt";
  std::string lines;
  for (const Json& request : requests) lines += request.dump() + "\n";
  write_file_atomically(asked, {lines});
  const std::string command = fmt::format("ATTN_KERNELS=baseline {} <'{}'", native_program, asked.string());
  FILE* program = popen(command.c_str(), "r");
  if (!program) fail("{} cannot be run", native_program);
  std::string text;
  char bytes[4096];
  while (const std::size_t count = std::fread(bytes, 1, sizeof bytes, program)) text.append(bytes, count);
  pclose(program);
  fs::remove(asked);
  std::vector<Json> answers;
  for (std::size_t begin = 0, end; (end = text.find('\n', begin)) != text.npos; begin = end + 1)
    answers.push_back(Json::parse(text.substr(begin, end - begin)));
  if (answers.size() != requests.size())
    fail("{} gave {} answers to {} requests", native_program, answers.size(), requests.size());
  return answers;
}

// The page's answers, asked one after the other.
Json live(Chromium& browser, const Json& requests) {
  return browser.evaluate(fmt::format("(async () => {{ const answers = []; for (const request of {}) "
                                      "answers.push(await live.ask(request)); return answers; }})()",
                                      requests.dump()),
                          patience);
}

void compare(const Json& page, const std::vector<Json>& native, const char* what,
             std::set<std::string>& faults) {
  for (std::size_t i = 0; i < native.size(); ++i)
    for (const char* field : {"error", "translation", "losses", "weights"})
      if (page[i].value(field, Json()) != native[i].value(field, Json()))
        faults.insert(fmt::format("{}: the page says {:.120}, the native program {:.120}", what,
                                  page[i].value(field, Json()).dump(),
                                  native[i].value(field, Json()).dump()));
}

}  // namespace

std::set<std::string> check_live_page(Chromium& browser, const fs::path& root) {
  std::set<std::string> faults;
  const fs::path folder = root / "pages", weights = root / "13_translator" / "en-fr.safetensors";
  const bool embedded = browser.evaluate("live.ready.then(() => live.set.model === 'en-fr')", patience);
  for (const std::string fault : browser.evaluate(fmt::format("{}()", use_live_page), patience))
    faults.insert(fault);

  if (embedded) {
    Json requests = translations(), theirs = requests;
    theirs.insert(theirs.begin(), Json{{"do", "load"}, {"path", weights.string()}});
    requests.insert(requests.begin(), Json{{"do", "load"}, {"path", "/model.safetensors"}});
    const std::vector<Json> answers = native(theirs, folder);
    compare(live(browser, requests), answers, "with the trained model", faults);
    if (answers[1]["translation"] != "Le cheval noir ne veut pas les petites pommes rouges.")
      faults.insert("the trained model does not translate: " + answers[1]["translation"].dump());
  }
  Json requests = {{{"do", "start"}, {"seed", 3}, {"pairs", 3000}, {"steps", 30}},
                   {{"do", "train"}, {"steps", 30}},
                   {{"do", "weights"}}};
  for (const Json& request : translations()) requests.push_back(request);
  const Json trained = live(browser, requests);
  compare(trained, native(requests, folder), "after thirty steps", faults);

  const std::string saved = browser.evaluate(read_saved_weights, patience);
  const fs::path file = folder / "live.safetensors";
  write_file_atomically(file, {decode_base64(saved)});
  Json again = translations();
  again.insert(again.begin(), Json{{"do", "load"}, {"path", file.string()}});
  const std::vector<Json> loaded = native(again, folder);
  fs::remove(file);
  for (std::size_t i = 0; i < sentences.size(); ++i)
    if (loaded[1 + i].value("translation", "") != trained[3 + i].value("translation", "-"))
      faults.insert(fmt::format("weights saved by the page translate {} differently in the native program",
                                sentences[i]));
  return faults;
}

}  // namespace attn::press
