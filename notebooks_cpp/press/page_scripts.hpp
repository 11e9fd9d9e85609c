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
