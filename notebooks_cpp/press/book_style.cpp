#include "notebooks_cpp/press/book_pages.hpp"

namespace attn::press {

// The bar above every page: home, neighbours, search.
const char* const bar_style =
    R"(.bar { position: sticky; top: 0; z-index: 2; display: flex; align-items: center; gap: 0.5rem 1.4rem; padding: 0.5rem clamp(1rem, 3vw, 2.5rem); background: var(--page); border-bottom: 1px solid var(--line); font-size: 0.9rem; }
.bar .home { font-weight: 650; color: var(--ink); text-decoration: none; letter-spacing: -0.01em; }
.bar .step { display: flex; gap: 1.2rem; min-width: 0; }
.bar .step a { color: var(--soft); text-decoration: none; white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
.bar .step a:hover { color: var(--accent); }
.search { position: relative; flex: 0 1 22rem; margin-left: auto; }
.search input { width: 100%; padding: 0.35rem 2rem 0.35rem 0.8rem; font: inherit; color: var(--ink); background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
.search input:focus { outline: 2px solid var(--accent); outline-offset: -1px; }
.search kbd { position: absolute; right: 0.5rem; top: 0.4rem; pointer-events: none; }
.search input:focus + kbd { visibility: hidden; }
kbd { padding: 0 0.4rem; border: 1px solid var(--line); border-radius: 4px; background: var(--card); font: 0.8rem ui-monospace, "DejaVu Sans Mono", monospace; color: var(--soft); }
.search ol { position: absolute; right: 0; top: 100%; width: min(34rem, calc(100vw - 2rem)); max-height: 70vh; overflow-y: auto; margin: 0.3rem 0 0; padding: 0.3rem; list-style: none; background: var(--card); border: 1px solid var(--line); border-radius: 10px; box-shadow: 0 8px 30px rgb(0 0 0 / 0.18); }
.search li a { display: block; padding: 0.35rem 0.6rem; border-radius: 6px; color: var(--ink); text-decoration: none; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.search li a:hover, .search li a:focus, .search li a.chosen { background: var(--line); outline: none; }
.search li b { font-weight: 600; }
.search li i { margin-left: 0.5rem; font-style: normal; font-size: 0.78rem; color: var(--accent); }
.search li span { display: block; font-size: 0.8rem; color: var(--soft); overflow: hidden; text-overflow: ellipsis; }
@media (max-width: 700px) {
  .bar { flex-wrap: wrap; } .bar .step { margin-left: auto; } .bar .step a { max-width: 8.5rem; }
  .search { flex: 1 0 100%; } .search kbd { display: none; }
}
@media print { .bar { position: static; } .search, .step { display: none; } }
)";

// On top of the style of html.cpp. Text and code stand side by side if there is room for 100 columns of code.
const char* const book_style =
    R"(html { scroll-padding-top: 4.2rem; }
main.book { max-width: 96rem; margin: 0 auto; padding: 1.8rem clamp(1rem, 3vw, 2.5rem) 3rem; }
.opening { max-width: 58rem; margin-bottom: 1.6rem; } .opening h1 { margin-bottom: 0.8rem; }
h1.path { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: clamp(1.4rem, 4vw, 1.9rem); letter-spacing: -0.03em; }
.kicker { margin: 0 0 0.3rem; color: var(--accent); font-size: 0.9rem; font-weight: 600; }
.intro { font-size: 1.05rem; }
.sections ol { display: flex; flex-wrap: wrap; gap: 0.35rem 0.5rem; margin: 1.2rem 0 0.8rem; padding: 0; list-style: none; }
.sections a, .names a { display: block; padding: 0.12rem 0.7rem; border: 1px solid var(--line); border-radius: 1rem; background: var(--card); color: var(--ink); font-size: 0.88rem; text-decoration: none; }
.sections a:hover, .names a:hover { border-color: var(--accent); color: var(--accent); }
.names { display: flex; flex-wrap: wrap; gap: 0.35rem 0.4rem; margin: 1rem 0; }
.names a { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; font-size: 0.8rem; }
h2 code { padding: 0; background: none; } h2 { margin-top: 3rem; padding-top: 1.2rem; border-top: 1px solid var(--line); }
details > summary { cursor: pointer; color: var(--soft); } details > summary:hover { color: var(--accent); }
.preamble, .users { font-size: 0.92rem; }
.row { display: grid; grid-template-columns: minmax(0, 1fr); margin-top: 1.1rem; } .row > * { min-width: 0; }
.row .words { font-size: 0.97rem; }
.row.alone .words { max-width: 54rem; } .row .made pre { margin-bottom: 0.6rem; }
.row .words > :first-child, .row .made > :first-child { margin-top: 0; }
pre.aside { padding: 0.1rem 0 0.1rem 0.9rem; border: 0; border-left: 3px solid var(--line); border-radius: 0; background: none; font-size: 0.82rem; }
.intro pre.aside { font-size: 0.88rem; }
pre.listing { padding: 0.6rem 0; background: var(--card); font-size: 0.79rem; }
pre.listing code { display: block; width: max-content; min-width: 100%; padding: 0 1rem; }
pre.listing .line { display: block; }
pre.listing .line::before { counter-increment: line; content: counter(line); display: inline-block; width: 2.4rem; margin: 0 1rem 0 -0.6rem; text-align: right; color: var(--comment); opacity: 0.6; user-select: none; font-style: normal; }
pre.listing .line:target { background: color-mix(in srgb, var(--accent) 18%, transparent); }
.printed .made { padding: 0.4rem 1rem 0.7rem; border-left: 3px solid var(--accent); border-radius: 0 8px 8px 0; background: var(--code); }
.printed pre.output { margin: 0.5rem 0; padding: 0; border: 0; background: none; font-size: 0.82rem; }
.printed h3 { margin: 0; } .printed .soft { margin: 0.1rem 0 0.5rem; font-size: 0.88rem; }
.holds { color: var(--string); } .broken { color: var(--error-line); font-weight: 600; }
.printed figure { margin: 0.9rem 0; } .printed figcaption b { color: var(--ink); }
.task .words pre.aside { white-space: pre-wrap; overflow-wrap: anywhere; }
.task h3 code { font-size: 1rem; }
.task details, .alone details { margin: 0.4rem 0; padding: 0.35rem 0.9rem; border: 1px solid var(--line); border-radius: 8px; background: var(--card); }
.task details p { margin: 0.5rem 0 0.3rem; }
.mistakes dt { margin-top: 0.8rem; font-weight: 600; } .mistakes dt:target { color: var(--accent); }
.mistakes dd { margin: 0.1rem 0 0; }
.diff ins, .diff del { text-decoration: none; } .diff ins { color: var(--string); } .diff del { color: var(--error-line); }
ul.files { padding-left: 0; list-style: none; } ul.files li { margin: 0.3rem 0; }
.lessons { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 17rem), 1fr)); gap: 1.1rem; padding: 0; list-style: none; }
.lessons li { display: flex; flex-direction: column; overflow: hidden; background: var(--card); border: 1px solid var(--line); border-radius: 12px; }
.lessons li:hover { border-color: var(--accent); }
.lessons .to { flex: 1; color: var(--ink); text-decoration: none; }
.lessons img { display: block; width: 100%; height: 9rem; object-fit: cover; object-position: 50% 30%; background: #fff; border-bottom: 1px solid var(--line); }
.lessons .question { display: block; padding: 0.7rem 0.9rem 0.2rem; font-size: 1.05rem; line-height: 1.35; }
.lessons .question b { margin-right: 0.5rem; color: var(--accent); font-variant-numeric: tabular-nums; }
.lessons .name { padding: 0 0.9rem 0.7rem; color: var(--soft); font-size: 0.88rem; }
@media (prefers-color-scheme: dark) { .lessons img { filter: brightness(0.92); } }
.shelf details { padding: 0.5rem 0; border-bottom: 1px solid var(--line); } .shelf summary { color: var(--ink); }
.reference { max-width: 66rem; }
.declared { margin: 0.25rem 0; } .declared.apart { margin-top: 1.1rem; }
.declared p { margin: 0.3rem 0; font-size: 0.95rem; }
.declared:target > .item > pre { border-color: var(--accent); }
.item { display: grid; grid-template-columns: minmax(0, 1fr) auto; gap: 0 0.9rem; align-items: baseline; }
.item > p, .item > pre.aside { grid-column: 1 / -1; padding-left: 1.1rem; color: var(--soft); }
pre.signature { margin: 0; padding: 0.3rem 0.9rem; background: var(--card); }
.members pre.signature { padding: 0.1rem 0; border-color: transparent; background: none; }
.members .item > p, .members .item > pre.aside { padding-left: 1.6rem; margin-top: 0; }
.members .places { opacity: 0.75; }
pre.signature code { white-space: pre-wrap; padding-left: 2em; text-indent: -2em; display: block; }
.places { font-size: 0.8rem; white-space: nowrap; } .places a { color: var(--soft); }
.members { margin: 0.3rem 0 0.6rem 0.3rem; padding-left: 1rem; border-left: 2px solid var(--line); }
nav.steps { max-width: none; }
@media (min-width: 75rem) {
  .row { grid-template-columns: minmax(0, 21rem) minmax(0, 1fr); gap: 0 1.8rem; align-items: start; }
  .row.alone { grid-template-columns: minmax(0, 1fr); }
  .row .words { position: sticky; top: 4.2rem; max-height: calc(100vh - 5rem); overflow-y: auto; }
  .row.alone .words { position: static; max-height: none; }
}
@media (max-width: 700px) {
  html { scroll-padding-top: 6.4rem; }
  .item { grid-template-columns: minmax(0, 1fr); }
  .printed .made { padding-left: 0.7rem; padding-right: 0.4rem; }
  pre.listing .line::before { width: 1.9rem; margin: 0 0.6rem 0 -0.8rem; }
}
)";

// Finds by name: first the same, then names that begin so, then those with a word that does, then any that
// hold it. Typing searches, the arrows choose, Enter opens, Escape leaves, / comes from anywhere.
const char* const search_script = R"((() => {
  const root = document.currentScript.dataset.root;
  const box = document.querySelector(".search");
  const input = box.querySelector("input"), list = box.querySelector("ol");
  box.hidden = false;

  const rank = (name, wanted) => {
    const at = name.indexOf(wanted);
    if (at < 0) return -1;
    if (name === wanted) return 0;
    if (at === 0 || name.endsWith("::" + wanted)) return 1;
    return /[a-z0-9]/.test(name[at - 1]) ? 3 : 2;
  };
  const search = text => {
    const wanted = text.trim().toLowerCase();
    if (!wanted) return [];
    const found = [];
    book_index.forEach((entry, order) => {
      const name = entry[0].toLowerCase();
      let score = rank(name, wanted);
      if (score < 0) score = rank(name.replace(/[_:]+/g, " "), wanted.replace(/[_:]+/g, " "));
      if (score >= 0) found.push({ entry, key: score * 1e6 + name.length * 1e3 + order / 1e3 });
    });
    return found.sort((a, b) => a.key - b.key).slice(0, 12).map(each => each.entry);
  };
  const part = (tag, text) => Object.assign(document.createElement(tag), { textContent: text });
  let chosen = 0;
  const choose = to => {
    const links = list.querySelectorAll("a");
    if (!links.length) return;
    chosen = (to + links.length) % links.length;
    links.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
    links[chosen].scrollIntoView({ block: "nearest" });
  };
  const show = () => {
    list.replaceChildren(...search(input.value).map(([name, kind, text, address]) => {
      const link = part("a", ""), item = part("li", "");
      link.href = root + address;
      link.append(part("b", name), part("i", kind), part("span", text));
      item.append(link);
      return item;
    }));
    list.hidden = !list.children.length;
    choose(0);
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.addEventListener("keydown", event => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Escape") input.blur(), (list.hidden = true);
    else if (event.key === "Enter") list.querySelectorAll("a")[chosen]?.click();
    else return;
    event.preventDefault();
  });
  document.addEventListener("keydown", event => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(event.target.tagName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    }
  });
  document.addEventListener("click", event => {
    if (!box.contains(event.target) || event.target.closest("a")) list.hidden = true;
  });
  // What a link leads to may be folded.
  const unfold = () => {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    for (let parent = target; parent; parent = parent.parentElement) if (parent.tagName === "DETAILS") parent.open = true;
    if (target?.closest("details")) target.scrollIntoView();
  };
  addEventListener("hashchange", unfold);
  unfold();
})();
)";

}  // namespace attn::press
