// @ts-check
// The way of a word on the live page: the residual stream after each sublayer of the decoder, what the sublayer added,
// and what the model would write if it were the last one.
"use strict";

/** @typedef {[string, number, number]} Guess   a word, its probability, its logit */
/** @typedef {{name: string, layer: number, added: number[], state: number[], neurons: number[]|null, guess: {word: Guess, best: Guess[]}}} StreamStep   as in live.cpp */

/** @param {number[]} numbers */
const length_of = numbers => Math.sqrt(total(numbers.map(each => each * each)));

/** @param {{steps: StreamStep[], read: string, temperature: number, added_position: boolean}} at */
const way = ({ steps, read, temperature, added_position }) => {
  const most = largest(steps.flatMap(step => [...step.state, ...step.added])), deep = steps.at(-1)?.layer;
  const titles = { embedding: "Embedding", decoder: "+ self-attention", cross: "+ cross-attention", feed_forward: "+ feed-forward" };
  /** @param {StreamStep} step */
  const text = ({ name, added, neurons }) => ({
    embedding: `The word read last, “${read}”, is a vector of ${added.length} numbers${added_position ? ", and its position is added" : ""}.`,
    decoder: "All heads together add what they found in the words written so far.",
    cross: "All heads together add what they found in the English sentence.",
    feed_forward: `${neurons?.filter(each => each > 0).length} of ${neurons?.length} neurons fire on this vector. What they stand for is added.`,
  })[name];
  return steps.map((step, i) => {
    const { word, best } = step.guess, [first, p, logit] = best[0], last = i === steps.length - 1;
    const shown = best.some(each => each[0] === word[0]) ? best : [...best, word];
    const bars = element("div", { className: "bars" }, ...shown.flatMap(([name, share, score]) => {
      const className = name === word[0] ? "here" : "", bar = element("i", { className });
      bar.style.width = `${100 * share}%`;
      return [element("span", { className, textContent: name, title: name }), element("div", {}, bar), element("span", { className, textContent: percent(share) }),
              element("span", { className, textContent: digits(score) })];
    }));
    const tau = temperature > 0 && temperature !== 1 ? temperature : 0, power = tau ? logit / tau : logit;
    const strip_rows = /** @type {[string, number[]][]} */ ([...(i ? [[`adds ${digits(length_of(step.added))}`, step.added]] : []), [`stream ${digits(length_of(step.state))}`, step.state]]);
    const layer = deep && i ? `, layer ${step.layer + 1}` : "", title = /** @type {any} */ (titles)[step.name] + layer;
    return element("div", { className: "card" },
      element("div", {}, element("h3", { textContent: title }), element("p", { textContent: text(step) })),
      element("div", {}, ...(step.neurons ? [strips([["neurons", step.neurons]], largest(step.neurons), band)] : []), strips(strip_rows, most, band)),
      element("div", {}, bars, ...(last ? [formula(`“${first}”: e^${tau ? `(${digits(logit)} ÷ ${tau})` : digits(logit)} ÷ ${digits(Math.exp(power) / p)} = `, percent(p))] : [])));
  });
};
