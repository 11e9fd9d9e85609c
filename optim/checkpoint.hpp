// Checkpoints: a training run on disk, so that it can go on as if it had never stopped.
//
// One `.safetensors` file (optim/safetensors.hpp) holds every parameter under its own name, the optimizer's
// state under `optimizer.NAME`, and as metadata the step, the random generator's state, and whatever strings
// the program wants to keep (the configuration, the vocabularies). Any tool that reads safetensors can read
// the weights. A run that was stopped at any step and resumed has the same bits as one that never was.
#pragma once

#include <map>     // map
#include <string>  // string

#include "optim/optimizer.hpp"

namespace attn {

using Metadata = std::map<std::string, std::string>;

// Weights alone: for a model that is done.
void save_model(const std::string& path, const ParameterList& parameters, const Metadata& metadata = {});
// Fills the parameters from the file; every one must be there, with its shape, or nothing is
// changed. Returns the metadata.
Metadata load_model(const std::string& path, const ParameterList& parameters);
Metadata load_metadata(const std::string& path);

// A run in the middle.
void save_checkpoint(const std::string& path, const Optimizer& optimizer, const Rng& rng,
                     const Metadata& metadata = {});
Metadata load_checkpoint(const std::string& path, Optimizer& optimizer, Rng& rng);

}  // namespace attn
