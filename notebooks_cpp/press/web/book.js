// The book's own behaviour: menu, contents that follow the reading, theme, copy buttons, zoom, search. Without this
// file every page can still be read. Loaded at the end of a page, with data-root: the way to the book's folder.
"use strict";
{
  const root = document.currentScript.dataset.root;
  const all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const element = (tag, settings = {}, ...children) => {
    const made = Object.assign(document.createElement(tag), settings);
    made.append(...children);
    return made;
  };

  // The course folds into a menu where there is no room for it.
  const course = document.querySelector(".course"), menu = document.querySelector(".menu");
  const open_menu = open => {
    course.classList.toggle("open", open);
    menu.setAttribute("aria-expanded", open);
  };
  menu.hidden = false;
  menu.addEventListener("click", () => open_menu(!course.classList.contains("open")));
  document.addEventListener("click", event => {
    if (!course.contains(event.target) && !menu.contains(event.target)) open_menu(false);
  });
  course.querySelector("[aria-current]")?.scrollIntoView({ block: "center" });

  // The reader's choice of light or dark is kept for all pages.
  const theme = document.querySelector(".theme");
  const is_dark = () => {
    const chosen = document.documentElement.dataset.theme;
    return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  };
  const name_theme = () => {
    theme.textContent = is_dark() ? "☀" : "☾";
    theme.setAttribute("aria-label", is_dark() ? "Light page" : "Dark page");
  };
  theme.hidden = false;
  theme.addEventListener("click", () => {
    document.documentElement.dataset.theme = is_dark() ? "light" : "dark";
    try { localStorage.setItem("theme", document.documentElement.dataset.theme); } catch { /* not kept, then */ }
    name_theme();
  });
  name_theme();

  // The contents show where the reader is: the last heading above the upper third of the window.
  const links = all(".contents a"), headings = links.map(link => document.getElementById(link.hash.slice(1)));
  if (links.length) {
    // Where the contents stand in the text they are folded.
    const contents = document.querySelector(".contents");
    contents.firstElementChild.open = getComputedStyle(contents).position === "fixed";
    const follow = () => {
      const edge = innerHeight / 3;
      let here = headings.findLastIndex(heading => heading && heading.getBoundingClientRect().top < edge);
      if (scrollY + innerHeight >= document.documentElement.scrollHeight - 2) here = links.length - 1;
      links.forEach((link, i) => link.classList.toggle("here", i === here));
      if (here >= 0 && getComputedStyle(contents).position === "fixed")
        links[here].scrollIntoView({ block: "nearest" });
    };
    addEventListener("scroll", follow, { passive: true });
    matchMedia("(min-width: 84rem)").addEventListener("change", event => (contents.firstElementChild.open = event.matches));
    follow();
  }

  // Code can be copied as it is written, without the numbers of its lines.
  for (const block of all("pre:not(.aside):not(.signature)")) {
    const button = element("button", { className: "copy", type: "button", textContent: "copy" });
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(block.textContent);
      button.textContent = "copied";
      setTimeout(() => (button.textContent = "copy"), 1500);
    });
    const holder = element("div", { className: "with-copy" });
    block.replaceWith(holder);
    holder.append(block, button);
  }

  // A picture opens as large as it is.
  const zoom = picture => {
    const shown = all("img", picture).find(image => image.checkVisibility());
    const dialog = element("dialog", { className: "zoomed" }, element("img", { src: shown.src, alt: shown.alt }));
    dialog.addEventListener("click", () => dialog.close());
    dialog.addEventListener("close", () => dialog.remove());
    document.body.append(dialog);
    dialog.showModal();
  };
  for (const picture of all("figure .picture")) {
    const button = element("button", { className: "zoom", type: "button", textContent: "⤢", title: "Enlarge" });
    button.addEventListener("click", () => zoom(picture));
    picture.append(button);
    for (const link of all("a", picture))
      link.addEventListener("click", event => {
        event.preventDefault();
        zoom(picture);
      });
  }

  // Search: names first, then what the text says. The index comes when it is first needed.
  const box = document.querySelector(".search"), input = box.querySelector("input"), list = box.querySelector("ol");
  box.hidden = false;
  const plain = text => text.toLowerCase().replace(/[_:/\-‑–]+/g, " ");
  let entries = null;  // {name, kind, text, address, full, plain_name, plain_text}
  let loading = null;  // once, however fast one types
  const load = () => loading ??= new Promise(done => {
    const script = element("script", { src: root + "search-index.js" });
    script.addEventListener("load", () => {
      entries = book_index.map(([name, kind, text, address, full]) =>
        ({ name, kind, text, address, full, plain_name: plain(name), plain_text: plain(text + " " + full) }));
      done();
    });
    document.head.append(script);
  });
  const of_kind = { glossary: 90, lesson: 60, milestone: 55, section: 50, notebook: 50, exercise: 30, function: 20, type: 20 };
  const at_word = (text, wanted) => {  // where a word of the text begins so
    for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + 1))
      if (at === 0 || !/[\p{L}\p{N}]/u.test(text[at - 1])) return at;
    return -1;
  };
  const score = (entry, wanted, words) => {
    const in_name = at_word(entry.plain_name, wanted);
    let points = 0;
    if (entry.plain_name === wanted) points = 1000;
    else if (in_name === 0) points = 700 - Math.min(entry.name.length, 100);
    else if (in_name > 0) points = 500 - Math.min(entry.name.length, 100);
    else if (at_word(entry.plain_text, wanted) >= 0)
      points = 200 + 10 * Math.min(entry.plain_text.split(wanted).length, 9);
    else if (words.every(word => at_word(entry.plain_name + " " + entry.plain_text, word) >= 0)) points = 100;
    return points && points + (of_kind[entry.kind] ?? 0);
  };
  const search = text => {
    const wanted = plain(text).trim(), words = wanted.split(/\s+/);
    return entries.map(entry => ({ entry, points: score(entry, wanted, words) })).filter(each => each.points)
      .sort((a, b) => b.points - a.points).slice(0, 12).map(each => each.entry);
  };
  // The part of an entry's text that was asked for, marked.
  const excerpt = (entry, wanted) => {
    const whole = entry.full || entry.text, at = Math.max(at_word(plain(whole), wanted), 0);
    const found = plain(whole).startsWith(wanted, at) ? wanted.length : 0, from = at < 60 ? 0 : whole.indexOf(" ", at - 50) + 1;
    return element("span", {}, (from ? "… " : "") + whole.slice(from, at), element("mark", { textContent: whole.slice(at, at + found) }),
      whole.slice(at + found, at + 160));
  };
  let chosen = 0;
  const choose = to => {
    const found = all("a", list);
    if (!found.length) return;
    chosen = (to + found.length) % found.length;
    found.forEach((link, i) => link.classList.toggle("chosen", i === chosen));
    found[chosen].scrollIntoView({ block: "nearest" });
  };
  const show = async () => {
    await load();
    const wanted = plain(input.value).trim();
    const found = wanted ? search(wanted) : [];
    list.replaceChildren(...found.map(entry => element("li", {},
      element("a", { href: root + entry.address }, element("b", { textContent: entry.name }), element("i", { textContent: entry.kind }),
        excerpt(entry, wanted)))));
    if (wanted && !found.length) list.append(element("li", { className: "none", textContent: "Nothing found." }));
    list.hidden = !wanted;
    choose(0);
  };
  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  input.addEventListener("keydown", event => {
    if (event.key === "ArrowDown") choose(chosen + 1);
    else if (event.key === "ArrowUp") choose(chosen - 1);
    else if (event.key === "Escape") input.blur(), (list.hidden = true);
    else if (event.key === "Enter") all("a", list)[chosen]?.click();
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
}
