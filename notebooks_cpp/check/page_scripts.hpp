// What check_pages asks a page: functions in JavaScript that run in it.
#pragma once

namespace attn::press {

// (whether to try its search) -> its links, anchors and broken pictures. It waits for the pictures, also for
// those that the browser would load only when the reader scrolls to them.
constexpr const char* read_page = R"((async try_search => {
  for (const image of document.images) image.loading = 'eager';
  await Promise.all([...document.images].filter(image => !image.complete).map(image => new Promise(done => {
    image.addEventListener('load', done);
    image.addEventListener('error', done);
  })));
  const links = [];
  const read_links = () => {
    for (const [selector, attribute, loads] of [['a[href]', 'href', false], ['link[href]', 'href', true],
                                                ['[src]', 'src', true], ['[poster]', 'poster', true]])
      for (const element of document.querySelectorAll(selector)) {
        const written = element.getAttribute(attribute);
        if (written.startsWith('data:')) continue;
        let url = '';
        try { url = new URL(written, document.baseURI).href; } catch {}
        links.push({written, url, loads});
      }
  };
  read_links();
  const search = document.querySelector('input[type=search]');
  for (const letter of search && try_search ? ['a', 'e', 'o', 's', 't', 'm', 'l', ''] : []) {
    search.value = letter;
    search.dispatchEvent(new Event('input', {bubbles: true}));
    await new Promise(done => setTimeout(done, 50));
    read_links();
  }
  return {
    links,
    anchors: [...document.querySelectorAll('[id]')].map(element => element.id)
        .concat([...document.querySelectorAll('a[name]')].map(element => element.name)),
    broken: [...document.images].filter(image => image.complete && !image.naturalWidth)
        .map(image => image.currentSrc || image.src),
    has_viewport: !!document.querySelector('meta[name=viewport]'),
  };
}))";

// (the window's width) -> null, or how wide the page is and what sticks out; boxes that scroll do not count.
constexpr const char* read_width = R"((async width => {
  while (innerWidth !== width) await new Promise(done => setTimeout(done, 5));
  const page = document.documentElement;
  if (page.scrollWidth <= width) return null;
  const scrolls = element => element && element !== document.body && element !== page &&
      (getComputedStyle(element).overflowX !== 'visible' || scrolls(element.parentElement));
  let widest = page, right = width + 0.5;
  for (const element of document.body.querySelectorAll('*')) {
    const edge = element.getBoundingClientRect().right + scrollX;
    if (edge > right && !scrolls(element.parentElement)) [widest, right] = [element, edge];
  }
  return {width: page.scrollWidth, element: [widest.localName, ...widest.classList].join('.')};
}))";

// () -> prose that scrolls sideways: only code, tables and equations may, each in its own box.
constexpr const char* read_prose = R"((() => {
  const faults = new Set();
  for (const element of document.querySelectorAll('p, li, dt, dd, h1, h2, h3, figcaption, summary'))
    for (let box = element; box && box !== document.body; box = box.parentElement)
      if (!element.closest('pre, table, .equation, .cache') && box.scrollWidth > box.clientWidth + 1 && box.clientWidth &&
          getComputedStyle(box).display !== 'inline' && ['auto', 'scroll'].includes(getComputedStyle(box).overflowX))
        faults.add(`${element.localName} scrolls sideways in ${[box.localName, ...box.classList].join('.')}`);
  return [...faults];
}))";

// () -> whether the results of a search are cut off.
constexpr const char* read_search = R"((async () => {
  const search = document.querySelector('.search input'), list = document.querySelector('.search ol');
  if (!search) return false;
  const type = async words => {
    search.value = words;
    search.dispatchEvent(new Event('input'));
    for (let i = 0; i < 100 && list.hidden === !!words; ++i) await new Promise(done => setTimeout(done, 30));
  };
  await type('attention');
  const box = list.getBoundingClientRect(), cut = box.left < 0 || box.right > innerWidth || !box.width;
  await type('');
  return cut;
}))";

// () -> what does not answer: it does what a reader would, with pointer and keys, and says what fails.
constexpr const char* use_page = R"((async () => {
  const faults = [], all = (selector, from = document) => [...from.querySelectorAll(selector)];
  const pause = (time = 30) => new Promise(done => setTimeout(done, time));
  const expect = (happened, fault) => { if (!happened) faults.push(fault); };
  const page = document.documentElement;

  const search = document.querySelector('.search input');
  if (search && document.querySelector('.cards'))
    for (const words of ['teacher forcing', 'KV cache', 'label smoothing', 'TransformerWriter']) {
      search.value = words;
      search.dispatchEvent(new Event('input'));
      for (let i = 0; i < 100 && document.querySelector('.search ol').hidden; ++i) await pause();
      const first = document.querySelector('.search li a');
      expect(first?.querySelector('b').textContent.toLowerCase() === words.toLowerCase() && first.hash, `the search for "${words}" does not find its section`);
      search.value = '';
      search.dispatchEvent(new Event('input'));
      await pause();
    }
  for (const link of all('.glossary dd a:last-child')) expect(link.hash, `the glossary knows no section for ${link.textContent}`);

  const theme = document.querySelector('.theme');
  if (theme) {
    const ground = () => getComputedStyle(document.body).backgroundColor, before = ground();
    theme.click();
    expect(ground() !== before && localStorage.getItem('theme') === page.dataset.theme, 'the theme switch does not switch, or forgets');
    theme.click();
    expect(ground() === before, 'the theme switch does not switch back');
    localStorage.removeItem('theme');
    page.dataset.theme = '';
  }

  const contents = all('.contents a');
  if (contents.length > 2 && page.scrollHeight > 3 * innerHeight) {
    document.getElementById(decodeURIComponent(contents[2].hash.slice(1))).scrollIntoView({behavior: 'instant'});
    await pause(100);
    expect(document.querySelector('.contents a.here'), 'the contents do not follow the reading');
    scrollTo({top: 0, behavior: 'instant'});
  }

  for (const script of all('figure > .picture:has(div.cells) > script.cells')) {  // they lie over its cells
    const image = all('img', script.parentElement).find(each => each.checkVisibility()), shown = image.getBoundingClientRect();
    const scale = shown.width / image.getAttribute('width'), boxes = all('div.cells', script.parentElement);
    JSON.parse(script.textContent).forEach(({box}, i) => {
      const found = boxes[i].getBoundingClientRect();
      expect(Math.abs(found.left - shown.left - box[0] * scale) < 2 && Math.abs(found.bottom - shown.top - (box[1] + box[3]) * scale) < 2,
             'what answers is not where the cells of the picture are');
    });
  }
  for (const cells of all('div.cells')) {
    cells.scrollIntoView({behavior: 'instant', block: 'center'});
    const box = cells.getBoundingClientRect(), tip = () => cells.parentElement.querySelectorAll('.tip:not([hidden])')[0]?.textContent;
    const at = {clientX: box.left + 1, clientY: box.top + 1, bubbles: true};
    for (const pointerType of ['mouse', 'touch']) {
      cells.dispatchEvent(new PointerEvent(pointerType === 'mouse' ? 'pointermove' : 'pointerdown', {...at, pointerType}));
      expect(tip(), `a cell does not answer to ${pointerType}`);
      cells.dispatchEvent(new PointerEvent('pointerleave', {pointerType: 'mouse'}));
    }
    expect(!tip(), 'an answer stays when the pointer is gone');
    cells.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowUp'}));
    const first = tip();
    cells.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowRight'}));
    cells.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowDown'}));
    const moved = cells.querySelector('.mark').style;
    expect(first && (tip() !== first || (moved.width === '100%' && moved.height === '100%')), 'the arrow keys do not move from cell to cell');
    cells.dispatchEvent(new KeyboardEvent('keydown', {key: 'Escape'}));
    expect(!tip(), 'Escape does not close an answer');
  }

  for (const panel of all('.panel')) {
    const seen = () => [...panel.children].filter(child => child.localName !== 'script').map(child => child.innerHTML).join();
    expect(seen(), `the figure ${panel.dataset.figure} is not drawn`);
    for (const input of all('input, select', panel)) {
      const before = seen(), old = input.value;
      for (const value of input.localName === 'select' ? [...input.options].map(option => option.value) : [input.min, input.max]) {
        input.value = value;
        input.dispatchEvent(new Event(input.localName === 'select' ? 'change' : 'input'));
        if (value !== old) expect(seen() !== before, `the figure ${panel.dataset.figure} does not answer to its controls`);
      }
    }
    for (const button of all('button:not(.zoom)', panel)) {
      const before = seen();
      button.click();
      button.click();
      if (button.textContent === '◀') expect(seen() !== before, `the figure ${panel.dataset.figure} does not step`);
    }
  }

  const zoom = document.querySelector('.zoom');
  if (zoom) {
    zoom.click();
    const dialog = document.querySelector('dialog[open]');
    expect(dialog?.querySelector('img').src, 'a picture does not open');
    dialog?.close();
    await pause();
    expect(!document.querySelector('dialog'), 'an opened picture does not close');
  }
  if (theme) for (const block of all('pre.listing, pre.output')) expect(block.parentElement.querySelector('.copy'), 'code without a button to copy it');
  return [...new Set(faults)];
}))";

// () -> text that is hard to read, by the measure of WCAG 2: a contrast below 4.5, or below 3 if
// it is large.
constexpr const char* read_contrast = R"((() => {
  const context = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
  const colors = new Map();
  const color = css => {  // any notation to red, green, blue (0 to 255) and opacity (0 to 1)
    if (!colors.has(css)) {
      context.clearRect(0, 0, 1, 1);
      context.fillStyle = css;
      context.fillRect(0, 0, 1, 1);
      const [red, green, blue, alpha] = context.getImageData(0, 0, 1, 1).data;
      colors.set(css, [red, green, blue, alpha / 255]);
    }
    return colors.get(css);
  };
  const over = (top, ground) => [0, 1, 2].map(i => top[i] * top[3] + ground[i] * (1 - top[3]));
  const dark = matchMedia('(prefers-color-scheme: dark)').matches;
  const paper = dark && getComputedStyle(document.documentElement).colorScheme.includes('dark')
      ? [18, 18, 18] : [255, 255, 255];
  const grounds = new Map([[null, paper]]);
  const ground = element => {  // null: a picture, of which we cannot tell
    if (!grounds.has(element)) {
      const style = getComputedStyle(element), below = ground(element.parentElement);
      const top = color(style.backgroundColor);
      const unknown = style.backgroundImage !== 'none' || (!below && top[3] < 1);
      grounds.set(element, unknown ? null : over(top, below || paper));
    }
    return grounds.get(element);
  };
  const luminance = rgb => {
    const [red, green, blue] = rgb.map(value => value / 255)
        .map(value => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const faults = new Set();
  if (dark && luminance(ground(document.body) || paper) > 0.5) faults.add('the page stays light');
  const seen = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || seen.has(element)) continue;
    seen.add(element);
    const visible = element.checkVisibility({opacityProperty: true, visibilityProperty: true});
    if (!visible || !ground(element)) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && style.fontWeight >= 700);
    const [one, two] = [over(color(style.color), ground(element)), ground(element)].map(luminance);
    const contrast = (Math.max(one, two) + 0.05) / (Math.min(one, two) + 0.05);
    if (contrast < (large ? 3 : 4.5))
      faults.add(`${[element.localName, ...element.classList].join('.')} is hard to read: ` +
                 `${style.color} has a contrast of ${contrast.toFixed(1)}`);
  }
  return [...faults];
}))";

}  // namespace attn::press
