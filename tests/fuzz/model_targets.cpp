// What the translator reads: weights with their metadata, settings, vocabularies, corpora, grammars, options.
#include <unistd.h>  // getpid

#include <algorithm>   // min
#include <cstring>     // memcpy
#include <filesystem>  // remove
#include <sstream>     // istringstream

#include "core/error.hpp"
#include "core/text.hpp"  // read_file
#include "lessons/13_translator/settings.hpp"
#include "lessons/13_translator/translator.hpp"
#include "nn/text/bpe.hpp"
#include "nn/text/grammar.hpp"
#include "nn/text/tokenizer.hpp"
#include "optim/checkpoint.hpp"
#include "optim/published.hpp"
#include "optim/published_config.hpp"
#include "optim/trainer.hpp"  // History
#include "tests/fuzz/fuzz.hpp"

namespace fuzz {
namespace {

using namespace attn;
using Strings = std::vector<std::string>;

// The first eight bytes say how long the header is: as long as its braces say.
std::string with_right_length(std::string file) {
  std::size_t end = file.rfind("}}") + 2;
  if (end < 8) end = file.rfind('}') + 1;
  while (end < file.size() && file[end] == ' ') ++end;
  if (file.size() < 8 || end < 8) return file;
  const std::uint64_t length = end - 8;
  std::memcpy(file.data(), &length, 8);
  return file;
}

std::string safetensors(const std::string& header, std::size_t data) {
  std::string bytes(8, '\0');
  bytes += header;
  bytes = with_right_length(bytes);
  for (std::size_t i = 0; i < data; ++i) bytes += static_cast<char>(i % 100);  // no } among them
  return bytes;
}

Strings safetensors_seeds() {
  return {safetensors("{}", 0),
          safetensors(R"({"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})", 24),
          safetensors(R"({"__metadata__":{"step":"12","config":"{\"d\":8}"},)"
                      R"("a":{"dtype":"F64","shape":[1,2],"data_offsets":[0,16]},)"
                      R"("b":{"dtype":"F16","shape":[],"data_offsets":[16,18]},)"
                      R"("c":{"dtype":"BF16","shape":[3,1,1,1,1,1],"data_offsets":[18,24]}})",
                      24),
          safetensors(R"({"empty":{"dtype":"F32","shape":[0,9],"data_offsets":[0,0]},)"
                      R"("ids":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
                      R"("\u00e9":{"dtype":"F4","shape":[2],"data_offsets":[16,17]}})",
                      17)};
}

const Strings json_tokens = {"{",
                             "}",
                             "[",
                             "]",
                             ",",
                             ":",
                             "\"",
                             "\\",
                             "[[[[[[[[",
                             "-1",
                             "0",
                             "1",
                             "8",
                             "1e3",
                             "1e308",
                             "4294967296",
                             "9223372036854775807",
                             "18446744073709551615",
                             "null",
                             "true",
                             "{}",
                             "[]",
                             "\\u0000",
                             "\x1b",
                             "\xff",
                             " ",
                             "\n"};

Strings with(Strings tokens, const Strings& more) {
  tokens.insert(tokens.end(), more.begin(), more.end());
  return tokens;
}

void read_safetensors(const std::string& bytes) {
  const auto check = [](const Error& error) {
    for (const char c : std::string_view(error.what()))
      promise(c >= 32 && c < 127, "an error is one line of plain text");
    throw error;
  };
  try {
    SafetensorsFile file = SafetensorsFile::from_bytes(bytes, "fuzz");
    for (const std::string& name : file.names()) {
      const std::size_t count = std::size_t(file.shape(name).numel());
      promise(count <= 2 * bytes.size(), "no tensor has more numbers than the file has half bytes");
      const std::string_view dtype = file.dtype(name);
      if (dtype != "F32" && dtype != "F64" && dtype != "F16" && dtype != "BF16") continue;
      std::vector<real> numbers(count);
      file.read(name, numbers.data(), file.shape(name));
    }
  } catch (const Error& error) {
    check(error);
  }
}

// Small translators with each kind of vocabulary, as files without a checksum, so that damage goes unnoticed.
Strings checkpoint_seeds() {
  Strings seeds;
  for (const std::string positions : {"rope", "learned", "sinusoidal", "t5"}) {
    const bool word = positions == "rope" || positions == "t5";
    std::shared_ptr<const Vocabulary> source, target;
    if (word) {
      source = std::make_shared<WordVocabulary>(WordVocabulary::learn({"a cat sleeps."}));
      target =
          std::make_shared<WordVocabulary>(WordVocabulary::learn({"un chat dort.", "고양이는 고양이가"}));
    } else {
      source = target = std::make_shared<BpeVocabulary>(BpeVocabulary::learn({"a cat a cat"}, {.merges = 3}));
    }
    Settings settings = read_settings({"--fast", "--positions", positions, "--max-length", "8"});
    settings.d_model = 2, settings.heads = 1, settings.d_ff = 1;
    Rng rng(1);
    const Translator translator(source, target, settings.config(), rng);
    Metadata metadata = translator.metadata();
    metadata["settings"] = run_settings_json(settings);
    metadata["curve"] = "train\t1\t6.5\t0.001\nvalidation\t1\t6.25\n";
    std::vector<ArrayView> arrays;
    const ParameterList list = parameters_of(translator.model);
    for (const Parameter& parameter : list)
      arrays.push_back({parameter.name, parameter.tensor.shape(), parameter.tensor.data()});
    const std::string path = "/tmp/attn-fuzz-seed-" + std::to_string(getpid());
    write_safetensors(path, arrays, metadata);
    seeds.push_back(read_file(path));
    std::filesystem::remove(path);
  }
  return seeds;
}

void read_checkpoint(const std::string& bytes) {
  Checkpoint file("fuzz", SafetensorsFile::from_bytes(bytes, "fuzz"));
  try {
    with_stored({}, file.entry("settings"));
  } catch (const UsageError& error) {  // refused as an option would be
    throw Error(error.what());
  }
  History::from_text(file.entry("curve"));
  const Translator translator = Translator::load(std::move(file));
  translator.target->decode(translator.encode("a cat 는 sleeps"));
}

void read_config(const std::string& text) {
  const TransformerConfig config = config_from_json(text);
  promise(config_from_json(to_json(config)) == config, "a configuration is written as it is read");
  promise(parameter_count(config) > 0, "a model has parameters");
}

void read_vocabulary(const std::string& text) {
  const std::unique_ptr<Vocabulary> vocabulary = load_vocabulary(text);
  promise(load_vocabulary(vocabulary->save())->save() == vocabulary->save(),
          "a vocabulary is saved as it is loaded");
  const std::string_view sample = std::string_view(text).substr(0, 10'000);
  vocabulary->decode(vocabulary->encode(sample));
  vocabulary->unknown(sample);
}

void read_corpus(const std::string& text) { split_by_source(read_pairs(file_with(text)), {.test = 0}); }

void read_words(const std::string& text) {
  const std::size_t half = text.size() / 2;
  WordVocabulary::learn({text.substr(0, half)}).encode(std::string_view(text).substr(half));
}

// The two files with a form feed between them.
void read_two_files(const std::string& text) {
  const std::size_t seam = std::min(text.find('\f'), text.size());
  read_aligned(file_with(text.substr(0, seam)),
               file_with(text.substr(std::min(seam + 1, text.size())), true));
}

void read_options(const std::string& text) {
  Strings words;
  std::istringstream lines(text);
  for (std::string word; words.size() < 1000 && std::getline(lines, word);)
    if (!word.starts_with("--h") && !word.starts_with("-h") && !word.starts_with("--v"))
      words.push_back(word);
  try {
    const Settings settings = read_settings(words);
    with_stored(settings, run_settings_json(settings));
  } catch (const UsageError& error) {
    promise(std::string_view(error.what()).size() < text.size() + 1000, "an option is refused in a sentence");
    throw Error("refused");
  }
  set_thread_count(1);
}

void read_tokenizer(const std::string& text) {
  const std::unique_ptr<Tokenizer> tokenizer = load_tokenizer(file_with(text));
  tokenizer->decode(tokenizer->for_model(tokenizer->encode("the [MASK] the\n l'été 는 <s>")));
}

// "a" becomes "b": the root, the unit of 'a', and that of its value.
std::string character_map_seed() {
  std::vector<std::uint32_t> units(99);
  units[0] = 1 << 10;
  units[1 ^ 'a'] = 2 << 10 | 1 << 8 | 'a';
  units[2 ^ 1 ^ 'a'] = 0x80000000;
  const std::uint32_t size = std::uint32_t(4 * units.size());
  std::string bytes(reinterpret_cast<const char*>(&size), 4);
  return bytes.append(reinterpret_cast<const char*>(units.data()), size).append("b\0", 2);
}
void read_character_map(const std::string& bytes) {
  const CharacterMap map(bytes);
  promise(map("").empty(), "nothing stays nothing");
  map(std::string("aa\0 l'été ﬁ 는\xff", 20) + bytes.substr(0, 1000));
}

void read_llama2c(const std::string& bytes) {
  const Gpt model = load_llama2c(file_with(bytes));
  promise(parameters_of(model).count() <= std::ssize(bytes) / 4, "no model has more numbers than its file");
}

std::string llama2c_seed() {
  std::string bytes;
  for (const int number : {4, 3, 1, 2, 1, 5, 2}) bytes.append(reinterpret_cast<const char*>(&number), 4);
  return bytes.append(4 * 200, '\0');
}

const char* small_grammar = R"(vowels aeiou | aeiouh
feature n = one many
feature g = m f
<sentence> = <phrase n> <sleeps n> +.  | <phrase> <sleeps> +.
<phrase n> = <the g n> <adjective g n> <noun g n>  | <the> <noun> <adjective>
<the g n>
  = the | la~l'+
<sleeps one> = sleeps | dort
<sleeps many> = sleep | dorment
table <noun g n>: one many | g one many
  cat   cats   | m chat  chats
  apple apples | f pomme -
table <adjective g n>: * | m.one m.many f.one f.many
  red | rouge rouges rouge rouges
unseen adjective noun 1 in 7
)";

void read_grammar(const std::string& text) {
  const Grammar grammar("fuzz", text);
  grammar.held_out();
  grammar.generate(1, 1);
}

}  // namespace

std::vector<Target> model_targets() {
  return {
      {"safetensors", safetensors_seeds(),
       with(json_tokens, {"\"w\"", "\"F64\"", "\"F16\"", "\"dtype\"", "\"shape\"", "\"data_offsets\"",
                          "\"__metadata__\""}),
       read_safetensors, with_right_length},
      {"checkpoint", checkpoint_seeds(),
       with(json_tokens,
            {"\\\"max_length\\\":1000000", "\\\"d_model\\\":1048576",
             "\\\"beam\\\":", "\\\"encoder_layers\\\":999", "merge 260 260\\n", "token a\\n", "special b\\n",
             "vocabulary character\\n", "\"checksum\":\"fnv1a 0\",", "train\\t", "sinusoidal", "nan"}),
       read_checkpoint, with_right_length},
      {"config",
       {to_json({.source_vocabulary = 3, .vocabulary = 9}),
        to_json({.vocabulary = 9, .positions = Positions::rope})},
       with(json_tokens, {"\"max_length\":", "\"heads\":", "\"d_model\":", "t5", "learned", "swiglu"}),
       read_config},
      {"vocabulary",
       {BpeVocabulary::learn({"the cat and the dog", "고양이"}, {.merges = 9}).save(),
        WordVocabulary::learn({"L'homme n'est-il pas ici ?", "고양이는 사과를 고양이가"}).save(),
        CharacterVocabulary::learn({"abc\n"}, {"[MASK]"}).save(), ByteVocabulary().save()},
       {"merge 4 5\n", "merge 260 260\n", "token a\n", "token +는\n", "special [X]\n", "\\", "\\0A", "\\FF",
        "\n", "는", "'"},
       read_vocabulary},
      {"corpus",
       {"a cat\tun chat\nthe dog\tle chien\n",
        "\xEF\xBB\xBF고양이는 사과를\t l'homme n'est-il\r\n\r\nx\ty\tz"},
       {"\t", "\n", "\r\n", "a\tb\n", "'", "'a", "l'", "-", "+", "_", "는", "을", "\xC2\xA0", " ", "\xff",
        "1", "(", "."},
       read_corpus},
      {"words",
       {"L'homme n'est-il pas ici ? (Oui.) L'homme est là.", "고양이는 사과를 고양이가 사과가 고양이를"},
       {"'", "'a", "l'", "-", "+", "_", "는", "을", "이에요", " ", "\xff", "1", "(", ".", "…", "’"},
       read_words},
      {"aligned",
       {"a cat\nthe dog\n\fun chat\nle chien\n", "\xEF\xBB\xBF고양이는\r\n\r\nx\f l'homme\n\ny"},
       {"\f", "\n", "\r\n", "a\n", "\na", "는\n", "\xC2\xA0", " ", "\xff", "\xEF\xBB\xBF", "\t"},
       read_two_files},
      {"options",
       {"train\n--pairs\n1000\n--steps=9\n--dropout\n0.5",
        "translate\nThe\ncat\n--beam\n4\n--length-penalty=0.6",
        "--corpus\na.tsv\n--size\ntiny\n--layers\n3\n--threads\n2\n--seed\n7\n--out\nx"},
       {"--", "=", "\n", "--heads\n", "--d-model=", "1e999", "nan", "-1", "inf", "99999999999999999999",
        "--fast", "evaluate\n", "--source\n", "--target\n", "\xff", "--norm\npost\n"},
       read_options},
      {"tokenizer",
       {R"({"model":{"type":"WordPiece","vocab":{"[UNK]":0,"[CLS]":1,"[SEP]":2,"the":3,"##t":4}},)"
        R"("added_tokens":[{"id":5,"content":"[MASK]"}]})",
        R"({"model":{"type":"Unigram","unk_id":0,"vocab":[["<unk>",0],["</s>",0],["▁the",-1.5],["▁",-2],["e",-3]]}})",
        R"({"model":{"type":"BPE","unk_token":"<unk>","vocab":{"<unk>":0,"<s>":1,"▁":2,"t":3,"h":4,"th":5},)"
        R"("merges":["t h"]}})",
        R"({"normalizer":{"precompiled_charsmap":"BAAAAAAAAAAA"},"model":{"type":"Unigram","vocab":[["<unk>",0]]}})"},
       with(json_tokens, {"\"ByteLevel\"", "\"pre_tokenizer\":", "\"merges\":", "\"vocab\":", "\"<0x00>\":",
                          "\"BPE\"", "\"Unigram\"", "\"WordPiece\"", "▁", "##", "Ġ"}),
       read_tokenizer},
      {"published",
       {R"({"model_type":"gpt2","vocab_size":9,"n_embd":8,"n_head":2,"n_layer":1})",
        R"({"model_type":"llama","vocab_size":9,"hidden_size":8,"num_attention_heads":2,"num_hidden_layers":1,)"
        R"("intermediate_size":9,"rope_scaling":{"type":"linear","factor":2}})",
        R"({"model_type":"t5","vocab_size":9,"d_model":8,"num_heads":2,"d_kv":3,"num_layers":1,"d_ff":7})"},
       with(json_tokens,
            {"\"bert\"", "\"head_dim\":", "\"rope_theta\":", "\"gated-gelu\"", "\"linear\"", "nan"}),
       [](const std::string& text) {
         promise(least_numbers(attn::read_settings(std::filesystem::path(file_with(text))).second) > 0,
                 "a model has numbers");
       }},
      {"character map",
       {character_map_seed()},
       {std::string(4, '\0'), std::string(4, '\xff'), "\x01", "b"},
       read_character_map},
      {"llama2c", {llama2c_seed()}, {std::string(4, '\0'), std::string(4, '\xff'), "\x01"}, read_llama2c},
      {"grammar",
       {small_grammar, "<a> = b <c>\n<c> = d | e\n"},
       {"<",
        ">",
        "|",
        "=",
        "\n",
        "\n  = ",
        "<noun g n>",
        "<phrase n>",
        "{n}",
        "feature x = ",
        "table <t g>: ",
        "*",
        "-",
        "~",
        "/",
        "+",
        "_",
        ".",
        ",",
        "one ",
        "many ",
        "m ",
        "#",
        "unseen noun noun 1 in 2\n",
        " "},
       read_grammar},
  };
}

}  // namespace fuzz
