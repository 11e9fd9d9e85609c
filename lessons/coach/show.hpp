// How values are written down for people.
#pragma once

#include "lessons/coach/value.hpp"

namespace coach {

constexpr int margin = 6;  // columns before what is shown

std::string number_text(double number, bool exact);       // "0.25", "NaN", never "-0"
std::string size_text(const Part& part);                  // "(2,3)" of a tensor, "length 3" of a list
std::string index_text(const Part& part, Index element);  // "(0,2)"

// As a person would write it down, cut where it is large; lines after the first are indented. Each matrix of
// a tensor of rank 3 and more stands apart, behind its index.
std::string show(const Part& part, int indent);

// The same in one line: "[[1 2] [3 4]]"; what is large is only described.
std::string show_inline(const Value& value);

// Part by part, each behind `label` and its own name, indented: the lines of an input or of an answer. The
// small fields of one struct share a line: "graph[1]: inputs = [0], derivatives = [2.3]".
std::string listing(const std::string& label, const Value& value);

// What a model answers about the next token, the few highest by number: "[3: 0.6, 4: 0.4]". Of a table (T,V)
// it is the last row that tells. `likeliest` is for logarithms of probabilities.
std::string highest_scores(const Value& answered);
std::string likeliest(const Value& answered);

// How many columns it takes to write all of it down: what to compare two inputs by.
Index length_of(const Value& value);

}  // namespace coach
