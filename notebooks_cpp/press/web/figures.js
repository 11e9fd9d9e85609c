// Figures that answer: plain functions over the data that lessons write, no framework. Without this file the pictures
// are there all the same.
//
// A picture with matrices in it (lessons/support/picture.hpp) says what is in the cell under the pointer, the finger or
// the arrow keys. A panel (Lesson::data) is drawn here, by the function of its name:
//
//   maps      {queries, keys, axes: [{name, values, slider}], maps: [[…]], scores: [[…]]?, curve: {name, x, y}?}
//             attention maps to choose from: one for each combination of the axes' values, the last axis fastest
//   sampling  {context, tokens, logits}           the next token under temperature, top-k, top-p and min-p
//   beam      {source, width, nodes: [{token, parent, score, depth, kept, ended}], best}    a beam search, step by step
//   cache     {tokens, layers, size}              what a step computes, and what the key/value cache has already
//   clocks    {query, key, frequencies}           RoPE: each pair of numbers is a hand that turns with the position
"use strict";
{
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const element = (tag, settings = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), settings);
    made.append(...children);
    return made;
  };
  const shape = (tag, attributes = {}, ...children) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
    made.append(...children);
    return made;
  };
  const digits = value => value === null ? "−∞ or not a number" : value.toLocaleString("en", { maximumSignificantDigits: 3 });
  // The sequential colours of core/viz/color.cpp: lighter is more.
  const color = share => {
    const t = Math.min(Math.max(share, 0), 1);
    return `oklch(${0.27 + 0.65 * t} ${0.115 + 0.06 * t * t - 0.035 * Math.sin(Math.PI * t)} ${302 - 197 * t})`;
  };

  // Lines of "name value"; values are set off.
  const facts = pairs => pairs.map(([name, value]) => element("div", {}, name + " ", element("b", { textContent: value })));

  // Makes `cells`, a box that lies over rows x columns of cells, say what is in each: ask(row, column) gives the pairs.
  const answering = (cells, holder, rows, columns, ask) => {
    const mark = element("div", { className: "mark", hidden: true }), tip = element("div", { className: "tip", hidden: true });
    tip.setAttribute("role", "status");
    cells.append(mark);
    holder.append(tip);
    let at = null;
    const show = (row, column) => {
      at = [row, column];
      Object.assign(mark.style, { left: `${100 * column / columns}%`, top: `${100 * row / rows}%`, width: `${100 / columns}%`, height: `${100 / rows}%` });
      tip.replaceChildren(...facts(ask(row, column)));
      mark.hidden = tip.hidden = false;
      const cell = mark.getBoundingClientRect(), box = holder.getBoundingClientRect();
      const below = cell.bottom + tip.offsetHeight + 8 < innerHeight;
      tip.style.left = `${Math.max(0, Math.min(cell.left - box.left, holder.clientWidth - tip.offsetWidth))}px`;
      tip.style.top = `${below ? cell.bottom - box.top + 6 : cell.top - box.top - tip.offsetHeight - 6}px`;
    };
    const hide = () => { mark.hidden = tip.hidden = true; };
    const point = event => {
      const box = cells.getBoundingClientRect();
      const row = Math.floor((event.clientY - box.top) / box.height * rows), column = Math.floor((event.clientX - box.left) / box.width * columns);
      if (row >= 0 && row < rows && column >= 0 && column < columns) show(row, column);
    };
    cells.tabIndex = 0;
    cells.addEventListener("pointermove", point);
    cells.addEventListener("pointerdown", point);
    cells.addEventListener("pointerleave", event => { if (event.pointerType === "mouse") hide(); });
    cells.addEventListener("focus", () => { if (cells.matches(":focus-visible")) show(...(at ?? [0, 0])); });
    cells.addEventListener("blur", hide);
    cells.addEventListener("keydown", event => {
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (event.key === "Escape") hide();
      if (!step) return;
      event.preventDefault();
      const [row, column] = at ?? [0, 0];
      show(Math.min(Math.max(row + step[0], 0), rows - 1), Math.min(Math.max(column + step[1], 0), columns - 1));
    });
  };

  // Pictures. An axis that is called "queries: the word that asks" has one query in each row.
  const axis_name = (title, otherwise) => /quer/i.test(title) ? "query" : /key/i.test(title) ? "key" : title || otherwise;
  for (const script of all("figure > .picture > script.cells")) {
    const picture = script.parentElement, image = picture.querySelector("img"), width = image.getAttribute("width"), height = image.getAttribute("height");
    for (const map of JSON.parse(script.textContent)) {
      const [x, y, wide, high] = map.box, cells = element("div", { className: "cells" });
      const place = { left: 100 * x / width, top: 100 * y / height, width: 100 * wide / width, height: 100 * high / height };
      for (const [side, percent] of Object.entries(place)) cells.style[side] = `${percent}%`;
      cells.setAttribute("role", "application");
      cells.setAttribute("aria-label", `${map.name || "matrix"}: arrow keys read its cells`);
      picture.append(cells);
      answering(cells, picture, map.rows, map.columns, (row, column) => {
        const i = row * map.columns + column;
        return [[axis_name(map.row, "row"), map.row_labels?.[row] ?? row], [axis_name(map.column, "column"), map.column_labels?.[column] ?? column],
                ...(map.scores ? [["score", digits(map.scores[i])]] : []), [map.value || "value", digits(map.values[i])]];
      });
    }
  }

  // Controls of panels. Each calls `changed` with its new value, and once at the start through `draw`.
  const slider = (name, settings, show, changed) => {
    const input = element("input", { type: "range", ...settings }), output = element("output", { textContent: show(settings.value) });
    input.value = settings.value;  // after min and max
    input.addEventListener("input", () => {
      output.textContent = show(+input.value);
      changed(+input.value);
    });
    return element("label", {}, `${name} `, input, " ", output);
  };
  const choice = (name, values, changed) => {
    const select = element("select", {}, ...values.map((text, i) => element("option", { value: i, textContent: text })));
    select.addEventListener("change", () => changed(+select.value));
    return element("label", {}, `${name} `, select);
  };
  const controls = (...parts) => element("div", { className: "controls" }, ...parts);
  const stepper = (count, show, changed) => {  // back, forward, slider
    let at = 0;
    const input = slider("step", { min: 0, max: count - 1, step: 1, value: 0 }, show, value => changed(at = value));
    const move = by => {
      const range = input.querySelector("input");
      range.value = Math.min(Math.max(at + by, 0), count - 1);
      range.dispatchEvent(new Event("input"));
    };
    const button = (text, label, by) => {
      const made = element("button", { type: "button", textContent: text, onclick: () => move(by) });
      made.setAttribute("aria-label", label);
      return made;
    };
    return controls(button("◀", "One step back", -1), button("▶", "One step on", 1), input);  // on a phone the slider goes below
  };

  const figures = {
    maps: ({ queries, keys, axes, maps, scores, curve }) => {
      const chosen = axes.map(() => 0), rows = queries.length, columns = keys.length, side = 26;
      const left = 8 * Math.max(...queries.map(text => text.length)) + 12, top = 6 * Math.max(...keys.map(text => text.length)) + 18;
      const width = left + columns * side + 30, height = top + rows * side;
      const cells = queries.flatMap((_, row) => keys.map((_, column) =>
        shape("rect", { x: left + column * side, y: top + row * side, width: side - 1, height: side - 1 })));
      const picture = element("div", { className: "picture drawn" });
      picture.style.maxWidth = `${width}px`;
      const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Attention weights: rows are queries, columns are keys" }, ...cells);
      queries.forEach((text, row) => svg.append(shape("text", { x: left - 8, y: top + (row + 0.68) * side, "text-anchor": "end" }, text)));
      keys.forEach((text, column) => svg.append(shape("text", { transform: `translate(${left + (column + 0.45) * side} ${top - 6}) rotate(-40)` }, text)));
      const box = element("div", { className: "cells" });
      Object.assign(box.style, { left: `${100 * left / width}%`, top: `${100 * top / height}%`, width: `${100 * columns * side / width}%`, height: `${100 * rows * side / height}%` });
      box.setAttribute("role", "application");
      box.setAttribute("aria-label", "Attention weights: arrow keys read the cells");
      picture.append(svg, box);
      const index = () => chosen.reduce((sum, value, i) => sum * axes[i].values.length + value, 0);
      answering(box, picture, rows, columns, (row, column) => [["query", queries[row]], ["key", keys[column]],
        ...(scores ? [["score", digits(scores[index()][row * columns + column])]] : []), ["weight", digits(maps[index()][row * columns + column])]]);
      const chart = curve && line_chart(curve);
      const draw = () => {
        cells.forEach((cell, i) => cell.setAttribute("fill", color(maps[index()][i])));
        chart?.point_at(+axes[0].values[chosen[0]]);
      };
      const parts = axes.map(({ name, values, slider: slides }, i) => {
        const change = value => { chosen[i] = value; draw(); };
        return slides ? slider(name, { min: 0, max: values.length - 1, step: 1, value: 0 }, value => values[value], change) : choice(name, values, change);
      });
      draw();
      return [controls(...parts), element("div", { className: "side" }, picture, ...(chart ? [chart.svg] : []))];
    },

    sampling: ({ context, tokens, logits: given }) => {
      const logits = given.map(value => value ?? -Infinity);
      const order = logits.map((_, i) => i).sort((a, b) => logits[b] - logits[a]), shown = order.slice(0, 12);
      const settings = { temperature: 1, top_k: tokens.length, top_p: 1, min_p: 0 };
      const bars = shown.map(i => {
        const bar = element("i"), value = element("span");
        return { i, bar, value, row: element("div", { className: "bar-row" }, element("b", { textContent: tokens[i] }), element("div", {}, bar), value) };
      });
      const said = element("p", { className: "soft" });
      const draw = () => {
        // As in nn/decode.cpp: temperature, then the k likeliest, then of those the fewest that reach p. Min-p (Nguyen et
        // al. 2024) keeps what is at least min-p times as likely as the likeliest.
        const highest = logits[order[0]], powers = order.map(i => Math.exp((logits[i] - highest) / settings.temperature));
        powers.fill(0, settings.top_k);
        const whole = powers.reduce((a, b) => a + b);
        let reached = 0, stay = 0;
        while (stay < powers.length && powers[stay] > 0 && powers[stay] >= settings.min_p && reached < settings.top_p - 1e-9) reached += powers[stay++] / whole;
        powers.fill(0, stay);
        const rest = powers.reduce((a, b) => a + b);
        bars.forEach(({ bar, value, row }, place) => {
          const share = powers[place] / rest;
          bar.style.width = `${100 * share}%`;
          value.textContent = share ? share.toFixed(3) : "out";
          row.classList.toggle("out", !share);
        });
        const entropy = -powers.filter(Boolean).reduce((sum, power) => sum + power / rest * Math.log(power / rest), 0);
        said.textContent = `${stay} of ${tokens.length} tokens stay; exp(entropy) = ${Math.exp(entropy).toFixed(1)}`;
      };
      const change = name => value => { settings[name] = value; draw(); };
      draw();
      return [element("p", { className: "soft", textContent: context }),
        controls(slider("temperature", { min: 0.1, max: 3, step: 0.05, value: 1 }, value => value.toFixed(2), change("temperature")),
          slider("top-k", { min: 1, max: tokens.length, step: 1, value: tokens.length }, value => value, change("top_k")),
          slider("top-p", { min: 0.05, max: 1, step: 0.05, value: 1 }, value => value.toFixed(2), change("top_p")),
          slider("min-p", { min: 0, max: 0.9, step: 0.02, value: 0 }, value => value.toFixed(2), change("min_p"))),
        element("div", { className: "bars" }, ...bars.map(each => each.row)), said];
    },

    beam: ({ source, width, nodes, best }) => {
      const text = i => {
        const words = [];
        for (let at = i; at >= 0 && nodes[at].parent >= 0; at = nodes[at].parent) words.unshift(nodes[at].token);
        return words.join(" ");
      };
      const on_best = new Set();
      for (let at = best; at >= 0; at = nodes[at].parent) on_best.add(at);
      const depth = Math.max(...nodes.map(node => node.depth)), list = element("div", { className: "bars" });
      const draw = step => {
        const here = nodes.map((node, i) => ({ ...node, i })).filter(node => node.depth === step + 1).sort((a, b) => b.score - a.score).slice(0, 2 * width + 2);
        list.replaceChildren(...here.map(node => element("div", { className: `bar-row wide${node.kept ? "" : " out"}${on_best.has(node.i) ? " best" : ""}` },
          element("b", { textContent: text(node.i) }), element("span", { textContent: node.score.toFixed(2) }),
          element("em", { textContent: on_best.has(node.i) ? "kept, and the best in the end" : node.kept ? node.ended ? "kept, finished" : "kept" : "dropped" }))));
      };
      draw(0);
      return [element("p", { className: "soft", textContent: `“${source}” with a beam of ${width}. Each number is the log-probability of the whole beginning.` }),
        stepper(depth, step => `word ${step + 1} of ${depth}`, draw), list];
    },

    cache: ({ tokens, layers, size }) => {
      const table = element("div", { className: "cache" }), said = element("p", { className: "soft" });
      const row = (name, step, kind) => [element("b", { textContent: name }),
        ...tokens.map((token, i) => element("span", { className: i > step ? "" : kind(i, step), textContent: token }))];
      const draw = step => {
        table.style.gridTemplateColumns = `max-content repeat(${tokens.length}, max-content)`;
        table.replaceChildren(...row("query", step, (i, now) => i === now ? "new" : ""),
          ...row("keys", step, (i, now) => i === now ? "new" : "kept"), ...row("values", step, (i, now) => i === now ? "new" : "kept"));
        const count = step + 1, kept = 2 * layers * count * size;
        said.textContent = `Step ${count}: with the cache 1 token goes through the model, without it ${count}. ` +
          `So far ${count} against ${count * (count + 1) / 2}. The cache holds keys and values, 2 × ${layers} (layers) × ${count} (tokens) × ${size} = ${kept.toLocaleString("en")} numbers.`;
      };
      draw(0);
      return [stepper(tokens.length, step => `token ${step + 1} of ${tokens.length}`, draw),
        element("p", { className: "legend" }, element("span", { className: "new", textContent: "computed now" }), " ", element("span", { className: "kept", textContent: "kept" })), table, said];
    },

    clocks: ({ query, key, frequencies }) => {
      const place = { query: 3, key: 0 }, radius = 44, said = element("p");
      const hand = kind => shape("line", { class: kind, x1: 0, y1: 0 });
      const clocks = frequencies.map((frequency, i) => {
        const hands = { query: hand("query"), key: hand("key") };
        return { frequency, i, hands, svg: shape("svg", { viewBox: "-52 -52 104 122", role: "img", "aria-label": `clock ${i + 1}` },
          shape("circle", { r: radius }), hands.key, hands.query, shape("text", { y: 64, "text-anchor": "middle" }, `ω = ${digits(frequency)}`)) };
      });
      const turned = (vector, i, angle) => {
        const [a, b] = [vector[2 * i], vector[2 * i + 1]];
        return [a * Math.cos(angle) - b * Math.sin(angle), a * Math.sin(angle) + b * Math.cos(angle)];
      };
      const longest = Math.max(...[query, key].flatMap(vector => frequencies.map((_, i) => Math.hypot(vector[2 * i], vector[2 * i + 1]))));
      const draw = () => {
        let score = 0;
        for (const { frequency, i, hands } of clocks) {
          const ends = { query: turned(query, i, place.query * frequency), key: turned(key, i, place.key * frequency) };
          for (const kind of ["query", "key"]) {
            hands[kind].setAttribute("x2", ends[kind][0] * radius / longest);
            hands[kind].setAttribute("y2", -ends[kind][1] * radius / longest);
          }
          score += ends.query[0] * ends.key[0] + ends.query[1] * ends.key[1];
        }
        said.replaceChildren(`query at ${place.query}, key at ${place.key}, distance ${place.query - place.key}: score q · k = `, element("b", { textContent: score.toFixed(3) }));
      };
      const inputs = {};
      const turn = name => inputs[name] = slider(`${name} at position`, { min: 0, max: 40, step: 1, value: place[name] }, value => value, value => { place[name] = value; draw(); });
      const together = by => element("button", { type: "button", textContent: `both ${by > 0 ? "+" : "−"}1`, onclick: () => {
        if (Math.min(place.query, place.key) + by < 0 || Math.max(place.query, place.key) + by > 40) return;
        for (const name of ["query", "key"]) {
          const input = inputs[name].querySelector("input");
          input.value = place[name] + by;
          input.dispatchEvent(new Event("input"));
        }
      } });
      const parts = controls(turn("query"), turn("key"), together(-1), together(1));
      draw();
      return [parts, element("p", { className: "legend" }, element("span", { className: "query", textContent: "query" }), " ", element("span", { className: "key", textContent: "key" })),
        element("div", { className: "clocks" }, ...clocks.map(clock => clock.svg)), said];
    },
  };

  // A line with a point on it that can be moved: {svg, point_at(x)}.
  function line_chart({ name, x, y }) {
    const width = 420, height = 220, left = 44, bottom = 30, low = Math.min(...y, 0), high = Math.max(...y), last = x.at(-1);
    const at = (a, b) => [left + (width - left - 12) * (a - x[0]) / (last - x[0] || 1), 12 + (height - bottom - 12) * (1 - (b - low) / (high - low || 1))];
    const point = shape("circle", { r: 5 }), label = shape("text", { "text-anchor": "end", x: width - 12, y: 22 });
    const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": name, class: "chart" },
      shape("polyline", { points: x.map((value, i) => at(value, y[i]).join(",")).join(" ") }), point, label,
      shape("text", { x: left, y: height - 8 }, String(x[0])), shape("text", { x: width - 12, y: height - 8, "text-anchor": "end" }, `step ${last}`),
      shape("text", { x: left - 8, y: 20, "text-anchor": "end" }, digits(high)), shape("text", { x: left - 8, y: height - bottom, "text-anchor": "end" }, digits(low)));
    const point_at = value => {
      let nearest = 0;
      x.forEach((each, i) => { if (Math.abs(each - value) < Math.abs(x[nearest] - value)) nearest = i; });
      const [cx, cy] = at(x[nearest], y[nearest]);
      point.setAttribute("cx", cx);
      point.setAttribute("cy", cy);
      label.textContent = `${name} ${digits(y[nearest])}`;
    };
    return { svg, point_at };
  }

  for (const panel of all(".panel[data-figure]")) {
    const draw = figures[panel.dataset.figure];
    if (draw) panel.append(...draw(JSON.parse(panel.querySelector("script").textContent)));
  }
}
