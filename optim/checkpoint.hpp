// Checkpoints: a training run on disk, so that it can go on as if it had never stopped.
//
//   save_checkpoint("run.safetensors", optimizer, rng, {{"config", to_json(config)}});
//
//   Checkpoint file("run.safetensors");                              // opened and checked once
//   Transformer model(config_from_json(file.entry("config")), rng);  // build what the metadata describes
//   file.read_into(parameters_of(model));                            // then fill it: the weights alone,
//   file.read_into(optimizer, rng);                                  // or everything, to train on
//
// One `.safetensors` file (optim/safetensors.hpp) holds every parameter under its own name, the optimizer's
// state under `optimizer.NAME`, and as metadata the step, the random generator's state, and whatever strings
// the program wants to keep (the configuration, the vocabularies). Any tool that reads safetensors can read
// the weights. A run that was stopped at any step and resumed has the same bits as one that never was.
//
// The metadata also holds a checksum, which is verified when the file is opened: a flipped bit is noticed, in
// the weights as in a vocabulary. A NaN or an infinity among the numbers is refused when they are read.
#pragma once

#include <string>  // string

#include "optim/group.hpp"
#include "optim/optimizer.hpp"
#include "optim/safetensors.hpp"

namespace attn {

// The weights alone: for a model that is done.
void save_model(const std::string& path, const ParameterList& parameters, const Metadata& metadata = {});
// A run in the middle. In a group every rank calls it, and rank 0 writes: the same bytes on any number of
// ranks, also if each has only a part of the optimizer's state.
void save_checkpoint(const std::string& path, const Optimizer& optimizer, const Rng& rng,
                     const Metadata& metadata = {}, Group& group = alone());

// A file that one of the two has written.
class Checkpoint {
 public:
  explicit Checkpoint(const std::string& path) : Checkpoint(path, SafetensorsFile::open(path)) {}
  Checkpoint(const std::string& path, SafetensorsFile file);
  const std::string& path() const { return path_; }
  const Metadata& metadata() const { return file_.metadata(); }
  const std::string& entry(const std::string& key) const;  // of the metadata; throws if it is not there

  // How many numbers the model in it has: to compare with what the metadata claims, before anything is built.
  Index parameter_count() const;

  // Both need every tensor to be in the file, with its shape; otherwise they throw and change nothing.
  void read_into(const ParameterList& parameters);
  void read_into(Optimizer& optimizer, Rng& rng);

 private:
  std::string path_;
  SafetensorsFile file_;
};

}  // namespace attn
