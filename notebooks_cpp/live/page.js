// @ts-check
// The live page: what is set, what is asked of the engine (worker.js), and what of the answer goes where (draw.js, walk.js).
//
// There is one state, `set`, which the address keeps (#text=…&beam=4): whoever opens that address sees the same view. A
// change goes through `change`, which writes the address, tells the engine what it needs to know and asks for the
// translation again.
"use strict";

const $ = (/** @type {string} */ id) => /** @type {any} */ (document.getElementById(id));
const kinds = { encoder: ["Encoder", "English looks at English"], decoder: ["Decoder", "the translation looks at itself"], cross: ["Cross-attention", "the translation looks at English"] };
const schemes = { rope: "rotary (RoPE)", none: "none", sinusoidal: "sinusoidal", learned: "learned", alibi: "ALiBi", t5: "T5 bias" };
const first_sentence = {
  "en-fr": { text: "The black horse does not want the small red apples.", expected: "Le cheval noir ne veut pas les petites pommes rouges." },
  "en-ko": { text: "The teacher bought two red flowers yesterday.", expected: "선생님은 어제 빨간 꽃 두 송이를 샀어요." },
};
const first = () => about.toy ? /** @type {any} */ (first_sentence)[about.pair] : { text: "", expected: "" };
const initial = { model: "", text: "", expected: "", head: "cross.0.0", cell: "", word: 2, show: "weights", temperature: 0, draw: 1, beam: 1, positions: "", heads: 0, scale: true, causal: true, off: "" };
/** @type {typeof initial} */ const set = { ...initial };
/** @type {any} */ let about = null;    // the model, as the engine describes it
/** @type {any} */ let answer = null;   // the last translation
let opened = "";                        // the name of the file that the model came from
/** @type {any} */ let trained = {};    // what the model had before any switch: positions and heads
const run = { on: false, losses: /** @type {number[]} */ ([]), scores: /** @type {number[][]} */ ([]), step: 0, total: 900, said: "", begun: 0 };

// --- the engine
const part = (/** @type {string} */ id) => $(id).textContent;
const worker = new Worker(URL.createObjectURL(new Blob([part("engine_js"), "\n", part("worker_js")], { type: "text/javascript" })));
/** @type {Map<number, (answer: any) => void>} */ const waiting = new Map();
let last_id = 0;
/** @param {object} message @returns {Promise<any>} */
const send = message => new Promise(done => { waiting.set(++last_id, done); worker.postMessage({ id: last_id, ...message }); });
const ask = (/** @type {object} */ request) => send({ request });
const ready = new Promise(done => {
  worker.onmessage = ({ data }) => {
    if (data.ready) return done(true);
    if (data.progress) return progressed(data.progress);
    waiting.get(data.id)?.(data.answer);
    waiting.delete(data.id);
  };
});
worker.postMessage({ wasm: part("engine_wasm") });

// --- the address
const keep = () => {
  const usual = { ...first(), ...trained };  // what one gets without being asked, beside `initial`
  const kept = Object.entries(set).filter(([name, value]) => value !== /** @type {any} */ (initial)[name] && value !== usual[name]);
  history.replaceState(null, "", kept.length ? "#" + new URLSearchParams(kept.map(([name, value]) => [name, String(value)])) : location.pathname + location.search);
};
const read_address = () => {
  const found = new URLSearchParams(location.hash.slice(1));
  for (const [name, value] of Object.entries(initial)) {
    const text = found.get(name);
    /** @type {any} */ (set)[name] = text === null ? value : typeof value === "number" ? +text || 0 : typeof value === "boolean" ? text === "true" : text;
  }
};
/** @param {Partial<typeof initial>} changes */
const change = async changes => {
  if (!about) return;  // the engine is not there yet
  Object.assign(set, changes);
  const switched = ["positions", "heads", "scale", "causal", "off"].some(name => name in changes);
  if (switched) await tell_switches();
  keep();
  show_controls();
  if (switched || ["text", "expected", "temperature", "draw", "beam", "word"].some(name => name in changes)) await translate();
  else show_look();
  if (switched) show_score();
};

// --- models
// Before another model comes, and once it is there: what trains is the old one.
const pause = () => { run.on = false; worker.postMessage({ train: false }); };
/** @param {any} found */
const use = async found => {
  if (found.error) return problem(found.error);
  about = found;
  trained = { positions: about.positions, heads: about.heads };
  pause();
  Object.assign(run, { losses: [], scores: [], step: about.step, total: about.total || +$("total").value, said: "" });
  $("diary").replaceChildren();
  $("known").textContent = `${about.words.length} words`;
  $("word_list").textContent = about.words.join(" ");
  $("head_count").replaceChildren(...[1, 2, 4, 8].filter(count => about.channels % count === 0 && about.channels / count % 2 === 0).map(count => element("option", { value: count, textContent: count })));
  const { pairs } = await ask({ do: "examples", count: 6 });
  $("examples").replaceChildren(element("span", { className: "soft", textContent: pairs.length ? "Sentences it never saw:" : "" }),
    ...pairs.map((/** @type {string[]} */ [source, target]) => element("button", { type: "button", textContent: source, onclick: () => change({ text: source, expected: target, draw: 1 }) })));
  $("engine").textContent = `${about.name} · ${about.parameters.toLocaleString("en")} weights · ${about.layers} + ${about.layers} layers, ${about.heads} heads`;
};
const embedded = () => [...document.querySelectorAll("script[data-weights]")].map(each => /** @type {any} */ (each).dataset.weights);
/** @param {string} name */
const open_model = async name => {
  pause();
  opened = "";
  problem("", "file_problem");
  const script = document.querySelector(`script[data-weights="${CSS.escape(name)}"]`);
  if (script) {
    await send({ write: "/model.safetensors", gzip: script.textContent });
    await use(await ask({ do: "load", path: "/model.safetensors" }));
  } else {
    const pair = name.endsWith("en-ko") ? "en-ko" : "en-fr";
    await use(await ask({ do: "start", pair, steps: +$("total").value, layers: +$("layers").value }));
  }
  set.model = name;
  if (!set.text) Object.assign(set, first());
  await tell_switches();
  show_models();
};
const show_models = () => {
  const name = (/** @type {string} */ id) => id.startsWith("new ") ? `a new ${id.slice(4)} model` : `your ${id} model`;
  const choices = [...embedded(), "new en-fr", "new en-ko"].map(id => element("button", { type: "button", textContent: name(id), ariaPressed: `${set.model === id}`,
    onclick: async () => { Object.assign(set, { ...initial, head: set.head }); await open_model(id); await change({ text: set.text }); show_training(); show_score(); } }));
  const file = element("input", { type: "file", accept: ".safetensors", onchange: async () => { await open_file(file.files[0]); file.value = ""; } });
  $("models").replaceChildren(...choices, element("label", { className: opened ? "opened" : "" }, opened || "open a file …", file));
};
/** @param {File} file */
const open_file = async file => {
  if (!file) return;
  pause();
  const bytes = await file.arrayBuffer().catch(() => null);  // a folder has none
  if (bytes) await send({ write: "/dropped.safetensors", bytes });
  const found = bytes ? await ask({ do: "load", path: "/dropped.safetensors" }) : { error: `${file.name}: cannot be read` };
  problem(found.error ? `${found.error.replace("/dropped.safetensors", file.name)}. The model stays as it was.` : "", "file_problem");
  $("translate").scrollIntoView();
  if (found.error) return show_training();
  Object.assign(set, { ...initial, head: set.head });
  opened = file.name;
  await use(found);
  show_models();
  await change(first());
  show_training();
  show_score();
};
const tell_switches = async () => {
  const off = set.off ? set.off.split(" ").map(head => head.split(".")).map(([name, layer, head]) => [name, +layer, +head]) : [];
  const found = await ask({ do: "switch", positions: set.positions || trained.positions, heads: set.heads || trained.heads, scale: set.scale, causal: set.causal, off });
  if (found.error) return problem(found.error);
  about = found;
};

// --- the translation and what is seen of it
const shortened = (/** @type {string} */ text) => text.length > 90 ? text.slice(0, 90) + " …" : text || "(nothing)";
/** @param {string} text @param {string} [place] */
const problem = (text, place = "problem") => { $(place).textContent = text; $(place).hidden = !text; };
let asked = 0;
const translate = async () => {
  const mine = ++asked;
  const found = await ask({ do: "translate", text: set.text, expected: set.expected, beam: set.beam, temperature: set.temperature, seed: set.draw, word: set.word });
  if (mine !== asked) return;  // a newer question is on its way
  problem(found.error ?? "");
  if (found.error) return;
  answer = found;
  show_translation();
  show_look();
};
const show_translation = () => {
  $("translation").textContent = shortened(answer.translation);
  $("said").textContent = !set.expected ? "" : answer.translation === set.expected ? "✓ This is the translation that the grammar has." :
    `The right translation is: ${set.expected} Probabilities and maps follow it, as in training (teacher forcing).`;
  $("untrained").hidden = !(set.model.startsWith("new ") && run.step === 0);
  $("words").replaceChildren(...answer.words.map((/** @type {any} */ { word: [text, p], best }) => {
    const bar = element("i");
    bar.style.width = percent(p);
    return element("div", { className: p < 0.6 ? "unsure" : "", tabIndex: 0 }, element("b", { textContent: text }), element("small", { textContent: percent(p) }), bar,
      element("div", { className: "more" }, ...best.map((/** @type {any} */ [text, share]) => element("span", {}, text, element("small", { textContent: percent(share) })))));
  }));
  $("way_words").replaceChildren(...answer.words.map((/** @type {any} */ { word: [text] }, /** @type {number} */ i) =>
    element("button", { type: "button", textContent: text, ariaPressed: `${i === answer.word}`, onclick: () => change({ word: i + 1 }) })));
  $("way_steps").replaceChildren(...way({ steps: answer.way, read: answer.written[answer.word], temperature: set.temperature, added_position: ["sinusoidal", "learned"].includes(about.positions) }));
  const tree = answer.tree;
  $("tree").hidden = $("hypotheses").hidden = !tree;
  if (tree) {
    $("tree").replaceChildren(beam_tree(tree, set.beam));
    $("hypotheses").replaceChildren(...tree.hypotheses.map((/** @type {any} */ each) => element("li", {}, shortened(each.text), element("span", { className: "soft", textContent: `  log P ${digits(each.log)}, by length ${digits(each.score)}` }))));
  }
};
const chosen = () => {
  const [name, layer, head] = set.head.split(".");
  const found = answer.layers.find((/** @type {any} */ each) => each.name === name && each.layer === +layer) ?? answer.layers.at(-1);
  const h = Math.min(+head || 0, found.heads - 1), start = h * found.rows * found.columns;
  const [wanted, there] = set.cell ? set.cell.split(".").map(Number) : [1, NaN], row = Math.min(wanted || 0, found.rows - 1);
  const weights = found.weights.slice(start + row * found.columns, start + (row + 1) * found.columns);
  const column = Number.isNaN(there) ? weights.indexOf(Math.max(...weights)) : Math.min(there || 0, found.columns - 1);  // at first where it looks most
  return { layer: found, h, row, column, id: `${found.name}.${found.layer}.${h}` };
};
// The words of the rows and of the columns: in the decoder a row is the word being written, by what it has read so far.
const words_of = (/** @type {any} */ layer) => [layer.name === "encoder" ? answer.read : answer.words.map((/** @type {any} */ each) => each.word[0]), layer.name === "decoder" ? answer.written : answer.read];
const map = big_map("Attention weights", (row, column) => change({ cell: `${row}.${column}` }));
$("map").append(map.box);
/** @type {Map<string, any>} */ const small = new Map();

// What the mask hides has no number to show.
const visible = (/** @type {any} */ layer, /** @type {number[]} */ values) => values.map((value, i) => layer.scores[i] === null ? null : value);
const show_look = () => {
  if (!answer) return;
  const { layer, h, row, column, id } = chosen(), off = set.off.split(" ");
  const all = answer.layers.flatMap((/** @type {any} */ each) => Array.from({ length: each.heads }, (_, head) => ({ each, head, id: `${each.name}.${each.layer}.${head}` })));
  if ([...small.keys()].join() !== all.map((/** @type {any} */ head) => head.id).join()) {  // other layers or heads than before
    small.clear();
    $("heads").replaceChildren();
    for (const [kind, [title, who]] of Object.entries(kinds)) {
      $("heads").append(element("h3", {}, `${title} `, element("span", { textContent: who })));
      const several = element("div", { className: "several" });
      several.style.setProperty("--heads", `${Math.min(all[0].each.heads, 4)}`);
      for (const head of all.filter((/** @type {any} */ each) => each.each.name === kind)) {
        const canvas = element("canvas"), button = element("button", { type: "button", onclick: () => change({ head: head.id }) }, canvas, `layer ${head.each.layer + 1}, head ${head.head + 1}`);
        small.set(head.id, { button, canvas });
        several.append(button);
      }
      $("heads").append(several);
    }
    for (const head of all) small.set(head.id, small.get(head.id));
  }
  for (const head of all) {
    const { button, canvas } = small.get(head.id), size = head.each.rows * head.each.columns;
    paint(canvas, head.each.rows, head.each.columns, visible(head.each, head.each.weights), head.head * size, weight_color);
    button.ariaPressed = `${head.id === id}`;
    button.classList.toggle("off", off.includes(head.id));
  }
  const size = layer.rows * layer.columns, start = h * size, [queries, keys] = words_of(layer), gradient = set.show === "gradients";
  const values = visible(layer, gradient ? layer.gradients : layer.weights), most = Math.max(...visible(layer, layer.gradients).slice(start, start + size).map(Math.abs));
  map.draw(queries, keys, values, start, gradient ? signed_color(most) : weight_color, [row, column]);
  $("map_title").textContent = `${/** @type {any} */ (kinds)[layer.name][0]}, layer ${layer.layer + 1}, head ${h + 1}`;
  for (const tab of document.querySelectorAll("[data-show]")) tab.ariaPressed = `${/** @type {any} */ (tab).dataset.show === set.show}`;
  const value = layer.weights[start + row * layer.columns + column], slope = layer.gradients[start + row * layer.columns + column];
  $("map_said").textContent = gradient
    ? `The gradient of the loss with respect to each weight. Blue: looking there more would lower the loss; orange: it would raise it. Here ${digits(slope)}.`
    : `${layer.name === "encoder" ? `“${queries[row]}” takes` : `To write “${queries[row]}” it takes`} ${percent(value)} from “${keys[column]}”. A row adds up to 100%.`;
  $("head_on").checked = !off.includes(id);
  $("steps").replaceChildren(...walk({ layer, h, row, column, queries, keys, scaled: set.scale, off: off.includes(id) }));
};

// --- training
const chart = training_chart();
$("chart").append(chart.svg);
const show_training = () => {
  const loss = run.losses.at(-1), score = run.scores.at(-1), rate = run.on && run.step > 5 ? (performance.now() - run.begun) / 1000 : 0;
  $("progress").textContent = run.step === 0 ? about.total === 0 ? "These weights are trained already: training goes on from them. To see it learn from nothing, start over." : `Step 0 of ${run.total}.` : `Step ${run.step} of ${run.total}: loss ${digits(loss)}${score ? `, ${Math.round(100 * score[1])} of 100 unseen sentences right` : ""}${rate ? `, ${Math.round(rate)} s` : ""}.`;
  $("go").textContent = run.on ? "Pause" : run.step === 0 ? "Train" : run.step < run.total ? "Go on" : "Train on from here";
  chart.draw(run.losses, run.scores, run.total);
};
let drawing = false, last_score = 0, last_look = 0;
/** @param {any} found */
const progressed = found => {
  if (found.error) { run.on = false; problem(found.error); return show_training(); }
  if (run.losses.length + found.losses.length > found.step) Object.assign(run, { losses: [], scores: [] });  // a new schedule
  run.losses.push(...found.losses);
  Object.assign(run, { step: found.step, total: found.total, on: found.training && run.on });
  if (drawing) return;  // one picture at a time: the page stays smooth
  drawing = true;
  requestAnimationFrame(async () => {
    const now = performance.now(), over = run.step >= run.total;
    if (over || now - last_look > 150) { last_look = now; await translate(); await note(); }
    if (over || now - last_score > 1000) { last_score = now; await score(); }
    show_training();
    drawing = false;
  });
};
const note = async () => {  // the diary: a line when the translation has changed
  if (!answer || answer.translation === run.said) return;
  run.said = answer.translation;
  $("diary").prepend(element("li", {}, element("b", { textContent: `step ${run.step}` }), shortened(run.said)));
  while ($("diary").children.length > 60) $("diary").lastChild.remove();
};
const show_score = async () => {
  const found = await ask({ do: "score", count: 100 });
  $("score").textContent = found.error ? "" : `${found.right} of ${found.of} sentences it never saw come out right.`;
  return found;
};
const score = async () => {
  const step = run.step, found = await show_score();
  if (!found.error) run.scores.push([step, found.right / found.of]);
};
const begin = async () => {
  if (run.step >= run.total || (about.total === 0 && run.step === 0)) {  // a schedule of its own, from the weights as they are
    const found = await ask({ do: "train", restart: true, of: +$("total").value });
    if (found.error) { problem(found.error); return false; }
    Object.assign(run, { losses: [], scores: [], step: 0, total: found.total });
    about = found;
  }
  return true;
};
$("go").onclick = async () => {
  if (run.on) { pause(); return show_training(); }
  if (!await begin()) return;
  run.on = true;
  run.begun = performance.now();
  worker.postMessage({ train: true });
  show_training();
};
$("one").onclick = async () => { if (!run.on && await begin()) progressed({ ...await ask({ do: "train", steps: 1 }), training: false }); };
const start_over = async () => {
  pause();
  const kept = { ...set };
  await use(await ask({ do: "start", pair: about.pair, steps: +$("total").value, layers: +$("layers").value, heads: set.heads || trained.heads, positions: set.positions || trained.positions }));
  Object.assign(set, { ...kept, model: `new ${about.pair}` });
  await tell_switches();
  show_models();
  show_training();
  await change(set.text ? { text: set.text } : first());
};
$("fresh").onclick = start_over;
$("layers").onchange = start_over;
$("save").onclick = async () => {
  const found = await ask({ do: "save", path: "/weights.safetensors" });
  if (found.error) return problem(found.error);
  const { bytes } = await send({ read: "/weights.safetensors" });
  const link = element("a", { href: URL.createObjectURL(new Blob([bytes])), download: `${about.name}.safetensors` });
  link.click();
  $("progress").textContent = `Saved. In the course: build/lessons/13_translator translate --checkpoint ${about.name}.safetensors "${set.text}"`;
};

// --- switches and what to try
$("positions").append(...Object.entries(schemes).map(([value, textContent]) => element("option", { value, textContent })));
const tries = [
  ["No positions", "Without positions a sentence is a bag of words. “The king sees the queen.” and “The queen sees the king.” get the same translation. Start over and train without them: it learns much, but who sees whom it cannot know.", "Positions off", { positions: "none", text: "The king sees the queen.", expected: "Le roi voit la reine." }],
  ["The leak", "Without the causal mask the decoder sees the word that it is asked for. Start over and train: the loss falls far faster than it honestly can, and the translations are worthless, since the answer is not there to copy when it writes alone.", "Mask off, and train anew", { causal: false }, true],
  ["No scaling", "Without ÷ √d the scores are larger, and the softmax all but chooses a single word. Compare the maps: they lose their shades, and some translations change.", "Scaling off", { scale: false }],
  ["One head less", "Switch a head of cross-attention off. Which words does it cost? The other head cannot answer its questions.", "Head 1 of cross-attention off", { head: "cross.0.0", off: "cross.0.0" }],
  ["Where should it look?", "The gradient says where more attention would help. It is largest while the model is wrong: train a new model for some 50 steps, pause, and look.", "Show gradients", { show: "gradients" }],
  ["A hesitant sentence", "Some sentences could be translated in several ways. Watch the beam keep both, and what temperature does to them.", "A beam of 4", { text: "I like the white.", beam: 4 }],
];
$("tries").append(...tries.map(([title, text, button, changes, anew]) => element("li", {}, element("h3", { textContent: title }), element("p", { textContent: text }),
  element("button", { type: "button", textContent: button, onclick: async () => {
    const { text, expected, ...rest } = /** @type {any} */ (changes);  // the sentences are for French
    await change({ ...as_it_was(), ...rest, ...(text && about.pair === "en-fr" ? { text, expected: expected ?? "" } : {}) });
    if (anew) { await start_over(); $("go").click(); $("train").scrollIntoView(); } else $("translate").scrollIntoView();
  } }))));
const as_it_was = () => ({ positions: trained.positions, heads: trained.heads, scale: true, causal: true, off: "", temperature: 0, beam: 1 });
$("reset").onclick = () => change(as_it_was());
for (const id of ["scale", "causal"]) $(id).onchange = () => change({ [id]: $(id).checked });
$("positions").onchange = () => change({ positions: $("positions").value });
$("head_count").onchange = () => change({ heads: +$("head_count").value, off: "" });
$("head_on").onchange = () => {
  const { id } = chosen(), off = new Set(set.off.split(" ").filter(Boolean));
  if ($("head_on").checked) off.delete(id);
  else off.add(id);
  change({ off: [...off].join(" ") });
};
for (const id of ["temperature", "beam"]) $(id).oninput = () => change({ [id]: +$(id).value });
$("again").onclick = () => change({ draw: set.draw + 1 });
$("text").oninput = () => change({ text: $("text").value, expected: "" });
for (const tab of document.querySelectorAll("[data-show]")) /** @type {any} */ (tab).onclick = () => change({ show: /** @type {any} */ (tab).dataset.show });
$("show_words").onclick = () => { $("word_list").hidden = !$("word_list").hidden; };
const show_controls = () => {
  if ($("text").value !== set.text) $("text").value = set.text;
  $("temperature").value = set.temperature;
  $("temperature").nextElementSibling.textContent = set.temperature.toFixed(1);
  $("temperature").disabled = set.beam > 1;
  $("again").hidden = !(set.temperature > 0 && set.beam === 1);
  $("beam").value = set.beam;
  $("beam").nextElementSibling.textContent = set.beam;
  $("positions").value = set.positions || trained.positions;
  $("head_count").value = set.heads || trained.heads;
  $("scale").checked = set.scale;
  $("causal").checked = set.causal;
};

// --- the page itself
const theme = /** @type {any} */ (document.querySelector(".theme"));
const is_dark = () => (document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
const name_theme = () => { theme.textContent = is_dark() ? "☀" : "☾"; theme.ariaLabel = is_dark() ? "Light page" : "Dark page"; };
theme.onclick = () => {
  document.documentElement.dataset.theme = is_dark() ? "light" : "dark";
  try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* not kept, then */ }
  name_theme();
};
name_theme();
for (const name of /** @type {const} */ (["dragover", "dragleave", "drop"])) addEventListener(name, event => {
  if (!event.dataTransfer?.types.includes("Files")) return;  // a dragged word may go into the sentence
  event.preventDefault();
  document.body.classList.toggle("dropping", name === "dragover");
  if (name === "drop") open_file(event.dataTransfer.files[0]);
});
const open_address = async () => {
  read_address();
  const model = set.model || embedded()[0] || "new en-fr";
  await open_model(embedded().includes(model) || model.startsWith("new ") ? model : embedded()[0] ?? "new en-fr");
  show_controls();
  show_training();
  await change({ text: set.text });
  show_score();
};
addEventListener("hashchange", () => { if (location.hash.includes("=")) open_address(); });  // not for #train, a place on the page
// For checks: the page is usable, the engine answers.
/** @type {any} */ (window).live = { ask, send, set, run, change, about: () => about, ready: ready.then(open_address) };
