// @ts-check
// The walk on the live page: how one cell of an attention map came to its number, in five cards.
"use strict";

/** @typedef {{name: string, rows: number, columns: number, size: number, scale: number, q: number[], k: number[], v: number[],
 *             scores: (number|null)[], weights: number[], gradients: number[]}} Layer   as in live.cpp, heads one after another */

/** @param {number[]} numbers */
const largest = numbers => numbers.reduce((most, each) => Math.max(most, Math.abs(each)), 1e-9);
/** @param {number[]} numbers */
const total = numbers => numbers.reduce((sum, each) => sum + each, 0);

/** @param {string} title @param {string} text @param {...any} parts */
const card = (title, text, ...parts) =>
  element("div", { className: "card" }, element("h3", { textContent: title }), element("p", { textContent: text }), ...parts);
/** @param {string} text @param {string} result */
const formula = (text, result) => element("p", { className: "formula" }, text, element("b", { textContent: result }));
/** @param {[string, number[]][]} rows @param {number} most @param {(values: number[], most: number) => any} [draw] */
const strips = (rows, most, draw = strip) => element("div", { className: "strips" },
  ...rows.flatMap(([name, values]) => [element("span", { textContent: name, title: name }), draw(values, most)]));

/** @param {{layer: Layer, h: number, row: number, column: number, queries: string[], keys: string[], scaled: boolean, off: boolean}} at */
const walk = ({ layer, h, row, column, queries, keys, scaled, off }) => {
  const { size: D, columns: S, rows: T } = layer, start = (h * T + row) * S, reads = layer.name === "encoder";
  /** @param {number[]} numbers @param {number} length @param {number} i */
  const vector = (numbers, length, i) => numbers.slice((h * length + i) * D, (h * length + i + 1) * D);
  const q = vector(layer.q, T, row), k = vector(layer.k, S, column), v = vector(layer.v, S, column);
  const products = q.map((each, i) => each * k[i]), dot = total(products), divided = dot * layer.scale;

  const scores = layer.scores.slice(start, start + S), score = scores[column];
  const hidden = score === null, bias = hidden ? 0 : score - divided, same = Math.abs(bias) < 1e-4 * (1 + Math.abs(divided));
  const highest = Math.max(...scores.map(each => each ?? -Infinity));
  const powers = scores.map(each => each === null ? 0 : Math.exp(each - highest)), sum = total(powers);
  const weights = layer.weights.slice(start, start + S), gradients = layer.gradients.slice(start, start + S), weight = weights[column];
  const out = Array.from({ length: D }, (_, d) => total(weights.map((each, s) => each * layer.v[(h * S + s) * D + d])));

  const bars = element("div", { className: "bars" }, ...keys.flatMap((key, s) => {
    const className = s === column ? "here" : "", bar = element("i", { className });
    bar.style.width = `${100 * weights[s]}%`;
    return [element("span", { className, textContent: key }), element("div", {}, bar),
            element("span", { className, textContent: percent(weights[s]) }), element("span", { className, textContent: scores[s] === null ? "" : digits(gradients[s], 2) })];
  }));
  const root = digits(Math.sqrt(D)), share = percent(powers[column] / sum);
  const steps = [
    card("q · k", `${reads ? `“${queries[row]}” asks` : `To write “${queries[row]}” the decoder asks`} with a query q, “${keys[column]}” answers ` +
      `with its key k: ${D} numbers each. Blue is below 0, orange above. Multiplied pair by pair and summed up, they say how well the two fit.`,
      strips([[`q of ${queries[row]}`, q], [`k of ${keys[column]}`, k]], largest([...q, ...k])), strips([["q × k", products]], largest(products)),
      formula("q · k = ", digits(dot))),
    card("÷ √d", !scaled ? "Switched off: the product goes on as it is." : `The longer the vectors, the larger their products. Dividing by the ` +
      `square root of their length, √${D} = ${root}, keeps the softmax from choosing one word alone.`,
      formula(scaled ? `${digits(dot)} ÷ ${root} = ` : `${digits(dot)} = `, digits(divided))),
    card("mask", hidden ? "This word comes later. When the model writes alone it is not there yet, so in training, too, it is hidden: minus infinity."
      : !same ? "Nothing is hidden. The position scheme adds a number that depends on the distance."
      : layer.name === "decoder" ? "This word may be seen, and nothing changes." : "Here every word may be seen, and nothing changes.",
      formula(hidden ? `${digits(divided)} → ` : `${digits(divided)} + ${digits(same ? 0 : bias)} = `, digits(score))),
    card("softmax", "The scores of a row become weights: e to the power of each, divided by the sum of all. (The highest score is subtracted first: the " +
      "weights stay the same, and no power is too large.) The last column is the gradient of the loss: below 0, more weight there would lower the loss.",
      bars, formula(hidden ? "e^−∞ = " : `e^(${digits(score)} − ${digits(highest)}) ÷ ${digits(sum)} = `, off ? `${share}, but the head is off: 0` : share)),
    card("× V", `“${keys[column]}” gives its value v, times the weight. The sum over all words is what this head hands on${reads ? ` for “${queries[row]}”` : ""}.`,
      strips([[`v of ${keys[column]}`, v], [`× ${percent(weight)}`, v.map(each => each * weight)], ["sum of all", out]], largest(layer.v))),
  ];
  return [steps[0], element("div", { className: "stack" }, steps[1], steps[2]), steps[3], steps[4]];
};
