// @ts-check
// What the live page draws: attention maps, strips of numbers, bars, curves, trees. Cells are pixels of a canvas that the
// style enlarges; words and lines are elements. Nothing here knows the engine.
"use strict";

/** @param {string} tag @param {object} [settings] @param {...(Node|string)} children @returns {any} */
const element = (tag, settings = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), settings);
  made.append(...children);
  return made;
};
/** @param {string} tag @param {Record<string, any>} [attributes] @param {...(Node|string)} children @returns {any} */
const shape = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};
/** A number for people. @param {number|null|undefined} value @param {number} [count] */
const digits = (value, count = 3) => value === null || value === undefined ? "−∞" : value === 0 ? "0"
  : Math.abs(value) >= 1e4 || Math.abs(value) < 1e-3 ? value.toExponential(1).replace("+", "").replaceAll("-", "−")
  : Math.abs(value) >= 1000 ? `${Math.round(value)}`.replace("-", "−") : value.toPrecision(count).replaceAll("-", "−");
/** @param {number} share */
const percent = share => share > 0.9995 ? "100%" : share >= 0.0995 ? `${Math.round(100 * share)}%` : share >= 0.0005 ? `${(100 * share).toFixed(1)}%` : "0%";

// 256 colours as bytes, from any CSS notation.
/** @param {(share: number) => string} css @returns {Uint8ClampedArray} */
const palette = css => {
  const canvas = element("canvas", { width: 256, height: 1 }), context = canvas.getContext("2d", { willReadFrequently: true });
  for (let i = 0; i < 256; ++i) {
    context.fillStyle = css(i / 255);
    context.fillRect(i, 0, 1, 1);
  }
  return context.getImageData(0, 0, 256, 1).data;
};
// The sequential colours of core/viz/color.cpp (lighter is more), and for signed numbers blue below 0, orange above.
const sequential = palette(t => `oklch(${0.27 + 0.65 * t} ${0.115 + 0.06 * t * t - 0.035 * Math.sin(Math.PI * t)} ${302 - 197 * t})`);
const negative = palette(t => `oklch(${0.75 - 0.25 * t} ${0.05 + 0.14 * t} 255)`), positive = palette(t => `oklch(${0.78 - 0.14 * t} ${0.05 + 0.13 * t} 50)`);

/** Colours of weights from 0 to 1; a hidden cell (null) has none. @param {number|null} value */
const weight_color = value => [sequential, Math.round(255 * Math.min(Math.max(value ?? 0, 0), 1)), value === null ? 0 : 255];
/** Colours of signed numbers. @param {number} most */
const signed_color = most => (/** @type {number|null} */ value) => {
  const share = most > 0 ? Math.min(Math.abs(value ?? 0) / most, 1) : 0;
  return [(value ?? 0) < 0 ? negative : positive, Math.round(255 * share), value === null ? 0 : Math.round(255 * Math.min(1, 0.06 + 2.2 * share))];
};

/** Paints rows x columns cells, from values[offset] on. @param {any} canvas @param {number} rows @param {number} columns
 * @param {ArrayLike<number|null>} values @param {number} offset @param {(value: number|null) => any[]} color */
const paint = (canvas, rows, columns, values, offset, color) => {
  if (canvas.width !== columns || canvas.height !== rows) Object.assign(canvas, { width: columns, height: rows });
  const context = canvas.getContext("2d"), image = context.createImageData(columns, rows);
  for (let i = 0; i < rows * columns; ++i) {
    const [colors, index, alpha] = color(values[offset + i]);
    for (let c = 0; c < 3; ++c) image.data[4 * i + c] = colors[4 * index + c];
    image.data[4 * i + 3] = alpha;
  }
  context.putImageData(image, 0, 0);
};

/** A map with its words, which says where the pointer is and can be walked with the arrow keys.
 * @param {string} label @param {(row: number, column: number) => void} chosen */
const big_map = (label, chosen) => {
  const canvas = element("canvas"), mark = element("div", { className: "mark" });
  const cells = element("div", { className: "plane", tabIndex: 0, role: "application", ariaLabel: `${label}: arrow keys choose a cell` }, canvas, mark);
  const above = element("div", { className: "above" }), beside = element("div", { className: "beside" });
  const box = element("div", { className: "map" }, above, beside, cells);
  let rows = 1, columns = 1, at = [0, 0];
  const go = (/** @type {number} */ row, /** @type {number} */ column) => chosen(Math.min(Math.max(row, 0), rows - 1), Math.min(Math.max(column, 0), columns - 1));
  const point = (/** @type {any} */ event) => {
    const area = cells.getBoundingClientRect();
    go(Math.floor((event.clientY - area.top) / area.height * rows), Math.floor((event.clientX - area.left) / area.width * columns));
  };
  cells.addEventListener("pointerdown", (/** @type {any} */ event) => { point(event); if (event.isTrusted) cells.setPointerCapture(event.pointerId); });
  cells.addEventListener("pointermove", (/** @type {any} */ event) => { if (event.buttons) point(event); });
  cells.addEventListener("keydown", (/** @type {any} */ event) => {
    const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
    if (!step) return;
    event.preventDefault();
    go(at[0] + step[0], at[1] + step[1]);
  });
  /** @param {string[]} queries @param {string[]} keys @param {ArrayLike<number|null>} values @param {number} offset @param {any} color @param {number[]} cell */
  const draw = (queries, keys, values, offset, color, cell) => {
    rows = queries.length, columns = keys.length, at = cell;
    box.style.setProperty("--rows", rows);
    box.style.setProperty("--columns", columns);
    const words = (/** @type {string[]} */ texts, /** @type {number} */ here) => texts.map((text, i) => element("span", { textContent: text, className: i === here ? "here" : "" }));
    above.replaceChildren(...words(keys, cell[1]));
    beside.replaceChildren(...words(queries, cell[0]));
    paint(canvas, rows, columns, values, offset, color);
    Object.assign(mark.style, { left: `${100 * cell[1] / columns}%`, top: `${100 * cell[0] / rows}%`, width: `${100 / columns}%`, height: `${100 / rows}%` });
  };
  return { box, cells, draw };
};

/** A vector as a strip of cells; each tells its number. @param {ArrayLike<number>} values @param {number} most */
const strip = (values, most) => {
  const color = signed_color(most), line = element("div", { className: "strip" });
  for (let i = 0; i < values.length; ++i) {
    const [colors, index, alpha] = color(values[i]);
    const cell = element("i", { title: digits(values[i]) });
    cell.style.background = `rgb(${colors[4 * index]} ${colors[4 * index + 1]} ${colors[4 * index + 2]} / ${alpha / 255})`;
    line.append(cell);
  }
  return line;
};

/** The same as pixels: for vectors that are long, or many. @param {number[]} values @param {number} most */
const band = (values, most) => {
  const canvas = element("canvas", { className: "strip" });
  paint(canvas, 1, values.length, values, 0, signed_color(most));
  return canvas;
};

/** Curves over the steps of a training: the loss (logarithmic) and the share of sentences that are right. */
const training_chart = () => {
  const height = 250, left = 44, right = 44, top = 26, bottom = 26, low = 0.001, high = 10;
  let width = 640, last = /** @type {[number[], number[][], number]} */ ([[], [], 1]);
  const curve = shape("polyline", { class: "loss" }), points = shape("g", { class: "right" }), frame = shape("g", { class: "frame" });
  const svg = shape("svg", { height, role: "img", "aria-label": "The loss of every step, and the share of held-out sentences translated right" }, frame, curve, points);
  const x = (/** @type {number} */ step, /** @type {number} */ total) => left + (width - left - right) * step / Math.max(total, 1);
  const y = (/** @type {number} */ loss) => top + (height - top - bottom) * (Math.log(high) - Math.log(Math.min(Math.max(loss, low), high))) / Math.log(high / low);
  const share = (/** @type {number} */ part) => height - bottom - (height - top - bottom) * part;
  /** @param {number[]} losses @param {number[][]} scores @param {number} total */
  const draw = (losses, scores, total) => {
    last = [losses, scores, total];
    width = svg.clientWidth || width;
    frame.replaceChildren(shape("text", { x: 0, y: 12 }, "loss"), shape("text", { x: width - 4, y: 12, class: "right", "text-anchor": "end" }, "sentences right"));
    for (const loss of [10, 1, 0.1, 0.01, 0.001])
      frame.append(shape("line", { x1: left, x2: width - right, y1: y(loss), y2: y(loss) }), shape("text", { x: left - 6, y: y(loss) + 4, "text-anchor": "end" }, `${loss}`));
    for (const part of [0, 0.5, 1]) frame.append(shape("text", { x: width - right + 6, y: share(part) + 4, class: "right" }, `${100 * part}%`));
    for (const step of [0, Math.round(total / 2), total]) frame.append(shape("text", { x: x(step, total), y: height - 8, "text-anchor": "middle" }, step ? `${step}` : "step 0"));
    const every = Math.max(1, Math.floor(losses.length / 600));
    curve.setAttribute("points", losses.flatMap((loss, i) => i % every ? [] : [`${x(i + 1, total).toFixed(1)},${y(loss).toFixed(1)}`]).join(" "));
    points.replaceChildren(...(scores.length > 1 ? [shape("polyline", { points: scores.map(([step, part]) => `${x(step, total)},${share(part)}`).join(" ") })] : []),
      ...scores.map(([step, part]) => shape("circle", { cx: x(step, total), cy: share(part), r: 3.5 })));
  };
  new ResizeObserver(() => draw(...last)).observe(svg);
  return { svg, draw };
};

/** The tree of a beam search: a column for each word, the best above. What was dropped is faint.
 * @param {{nodes: any[], hypotheses: any[]}} tree @param {number} width */
const beam_tree = (tree, width) => {
  const best = new Set();
  for (let at = tree.hypotheses[0].node; at >= 0; at = tree.nodes[at].parent) best.add(at);
  /** @type {any[][]} */ const columns = [];
  tree.nodes.forEach((node, i) => (columns[node.depth] ??= []).push({ ...node, i }));
  const spots = new Map(), gap = 26, rows = width + 3, unit = 7.4;
  let left = 8;
  const lines = [], words = [];
  for (const column of columns) {
    column.sort((a, b) => b.kept - a.kept || b.score - a.score);
    const shown = column.filter((node, rank) => node.kept || rank < rows);
    const wide = Math.max(...shown.map(node => node.word.length)) * unit + 12;
    shown.forEach((node, rank) => {
      const y = 18 + rank * gap, kind = best.has(node.i) ? "best" : node.kept ? "kept" : "dropped", from = spots.get(node.parent);
      spots.set(node.i, [left + wide, y]);
      if (from) lines.push(shape("path", { class: kind, d: `M${from[0]} ${from[1]} C${from[0] + 20} ${from[1]} ${left - 20} ${y} ${left} ${y}` }));
      words.push(shape("g", { class: kind }, shape("title", {}, `log P of everything up to here: ${digits(node.score)}${node.kept ? "" : " (dropped)"}`),
        shape("rect", { x: left, y: y - 10, width: wide, height: 20, rx: 5 }), shape("text", { x: left + wide / 2, y: y + 4, "text-anchor": "middle" }, node.word)));
    });
    left += wide + 34;
  }
  const height = 18 + gap * Math.min(rows, Math.max(...columns.map(column => column.length)));
  const svg = shape("svg", { viewBox: `0 0 ${left - 20} ${height}`, width: left - 20, height, role: "img", "aria-label": "The tree of beam search" }, ...lines, ...words);
  return svg;
};
