// Published weights: models as they are found on the web, loaded into ours.
//
//   const PublishedModel gpt2("models/gpt2");     // config.json, model.safetensors or its shards
//   Gpt model = gpt2.gpt();                       // gpt2 or llama; bert() and t5() for the others
//   gpt2.unused()                                 // what the file holds and the model did not want
//
// Four families in Hugging Face's layout: GPT-2 (Radford et al. 2019), BERT (Devlin et al. 2018), T5 (Raffel
// et al. 2019; v1.0 and v1.1) and Llama (Touvron et al. 2023; Llama 2's architecture). They differ in their
// settings (nn/config.hpp), in what their layers are called, and in how they store a matrix: the tables in
// optim/published_names.cpp say which of their names is which of ours. Weights are F32, F16 or BF16.
//
// Nothing in a folder is trusted: the configuration is checked against the tensors before a model is built,
// and what is missing, of another shape or unknown gets a one-line Error that names file and tensor.
#pragma once

#include <filesystem>  // path
#include <map>         // map
#include <string>      // string
#include <vector>      // vector

#include "nn/bert.hpp"
#include "nn/gpt.hpp"
#include "optim/safetensors.hpp"

namespace attn {

// One layer of ours and what a family calls it; # stands for the number of a block.
struct PublishedName {
  std::string ours, theirs;
  bool transposed = false;  // a matrix is stored as (in, out)
  int part = 0, parts = 1;  // ours is one of several that lie side by side in theirs: query, key and value
};
struct PublishedFamily {
  const char* type;                   // as config.json says it: "gpt2"
  std::vector<const char*> prefixes;  // that names may have, one for all: "", "transformer."
  std::vector<PublishedName> names;
};
// Throws, listing those that are known. `gated`: T5 v1.1 has other names for its feed-forward network.
PublishedFamily published_family(const std::string& type, bool gated = false);

class PublishedModel {
 public:
  explicit PublishedModel(const std::filesystem::path& folder);

  const std::string& type() const { return type_; }  // "gpt2", "llama", "bert", "t5"
  const TransformerConfig& config() const { return config_; }
  Gpt gpt();
  Bert bert();
  Transformer t5();
  std::vector<std::string> unused() const;  // tensors that no parameter came from, after a model was made

 private:
  void read_into(const ParameterList& parameters);
  void expect(const char* method, std::initializer_list<const char*> types) const;

  std::filesystem::path folder_;
  std::string type_;
  TransformerConfig config_;
  std::vector<SafetensorsFile> files_;
  std::map<std::string, Index> file_of_;  // the tensors, by name
  std::map<std::string, bool> used_;
};

// The same layout written: config.json and model.safetensors, which load there and here.
void save_published(const std::filesystem::path& folder, const std::string& type,
                    const TransformerConfig& config, const ParameterList& parameters);

// llama2.c's format (stories15M.bin and the like), version 0.
Gpt load_llama2c(const std::filesystem::path& file);

}  // namespace attn
