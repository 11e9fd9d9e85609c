// Launched: what a process that mpirun started knows of itself before it has joined the others.
#pragma once

#include <array>    // array
#include <cstdlib>  // getenv, strtol

#include "core/shape.hpp"  // Index

namespace attn {

// What mpirun says to the processes it starts, in one of these: Open MPI's words, MPICH's, Slurm's.
inline Index launched(const std::array<const char*, 3>& names, Index otherwise) {
  for (const char* name : names)
    if (const char* text = std::getenv(name)) return std::strtol(text, nullptr, 10);
  return otherwise;
}
// The rank of this process, known before MPI is loaded; 0 without mpirun.
inline Index launched_rank() { return launched({"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK"}, 0); }

}  // namespace attn
