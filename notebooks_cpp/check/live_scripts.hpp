// What check_live asks the live page: scripts in JavaScript that run in it.
#pragma once

namespace attn::press {

// () -> what does not answer, and how long a translation takes: it does what a reader would.
constexpr const char* use_live_page = R"((async () => {
  const faults = [], at = id => document.getElementById(id), all = selector => [...document.querySelectorAll(selector)];
  const pause = time => new Promise(done => setTimeout(done, time));
  const expect = (happened, fault) => { if (!happened) faults.push(fault); };
  // Does something and waits until what is seen there is no longer what it was.
  const changes = async (seen, action, fault, limit = 20000) => {
    const before = seen(), end = performance.now() + limit;
    await action();
    while (seen() === before && performance.now() < end) await pause(10);
    expect(seen() !== before, fault);
  };
  const choose = (id, value) => { at(id).value = value; at(id).dispatchEvent(new Event('change')); };
  const slide = (id, value) => { at(id).value = value; at(id).dispatchEvent(new Event('input')); };
  const tick = id => at(id).click();
  const map = () => all('.map canvas')[0].toDataURL(), maps = () => all('canvas').map(each => each.toDataURL()).join();
  const walk = () => at('steps').textContent;

  await live.change({head: 'cross.0.0', cell: '1.1'});
  let quickest = 1e9;
  for (let i = 0; i < 20; ++i) {
    const begin = performance.now();
    await live.change({text: live.set.text});
    quickest = Math.min(quickest, performance.now() - begin);
  }
  expect(all('#heads canvas').length === 3 * live.about().layers * live.about().heads, 'a head has no map');

  const cells = document.querySelector('.map .plane'), box = cells.getBoundingClientRect();
  await changes(walk, () => cells.dispatchEvent(new PointerEvent('pointerdown', {clientX: box.right - 2, clientY: box.bottom - 2, bubbles: true, pointerId: 1})), 'a cell does not answer to the pointer');
  await changes(walk, () => cells.dispatchEvent(new KeyboardEvent('keydown', {key: 'ArrowLeft'})), 'the arrow keys do not move');
  expect(['q · k', '÷ √d', 'mask', 'softmax', '× V'].every((title, i) => all('#steps h3')[i]?.textContent === title), 'the walk has not its five steps');
  await changes(map, () => all('[data-show=gradients]')[0].click(), 'the gradients are not shown');
  await changes(map, () => all('[data-show=weights]')[0].click(), 'the weights do not come back');

  const way = () => at('way_steps').textContent;
  await changes(way, () => all('#way_words button').at(-1).click(), 'a word does not show its way');
  expect(all('#way_steps .card').length === 1 + 3 * live.about().layers, 'a step is missing on the way of a word');
  expect(location.hash.includes('word='), 'the address does not keep the word');
  expect(all('#way_steps .card').at(-1).querySelector('.here + div + .here')?.textContent === all('#words > div > small').at(-1).textContent, 'the way of a word does not end in its probability');

  const plain = maps(), words = () => at('words').textContent;
  await changes(maps, () => choose('positions', 'none'), 'positions cannot be switched off');
  await changes(maps, () => choose('positions', 'sinusoidal'), 'there is no other scheme of positions');
  await changes(maps, () => at('reset').click(), 'positions do not come back');
  expect(maps() === plain, 'after the reset the maps are others than before');
  await changes(maps, () => tick('scale'), 'scaling cannot be switched off');
  await changes(maps, () => tick('scale'), 'scaling does not come back');
  await live.change({head: 'decoder.0.0', cell: '0.1'});
  expect(walk().includes('−∞'), 'the causal mask does not hide the next word');
  await changes(map, () => tick('causal'), 'the causal mask cannot be switched off');
  expect(!walk().includes('→ −∞'), 'without its mask the decoder does not see the next word');
  await changes(map, () => tick('causal'), 'the causal mask does not come back');
  await live.change({head: 'cross.0.0', cell: '1.1'});
  await changes(map, () => tick('head_on'), 'a head cannot be switched off');
  expect(location.hash.includes('off=cross.0.0'), 'the address does not keep a switch');
  await changes(map, () => tick('head_on'), 'a head does not come back');
  await changes(() => all('#heads canvas').length, () => choose('head_count', 4), 'the number of heads cannot be changed');
  await changes(() => all('#heads canvas').length, () => at('reset').click(), 'the number of heads does not come back');
  await changes(() => at('tree').hidden, () => slide('beam', 4), 'a beam shows no tree');
  expect(all('#tree .best').length > 2 && all('#hypotheses li').length === 4, 'the tree has no best path, or not four hypotheses');
  expect(location.hash.includes('beam=4'), 'the address does not keep the beam');
  slide('beam', 1);
  await changes(() => at('again').hidden, () => slide('temperature', 2), 'the temperature cannot be changed');
  await changes(words, async () => { for (let i = 0; i < 5; ++i) { at('again').click(); await pause(100); } }, 'drawing again at temperature 2 gives the same sentence');
  at('reset').click();
  await changes(() => at('problem').hidden, () => { at('text').value = 'The zebra sleeps.'; at('text').dispatchEvent(new Event('input')); }, 'an unknown word is not named');
  expect(at('problem').textContent.includes('zebra'), 'the unknown word is not named');

  const link = '#text=The+cat+sleeps.&head=encoder.0.1&cell=2.0&beam=3';
  location.hash = link;
  await changes(() => at('map_title').textContent, () => {}, 'an address does not set the view');
  for (let i = 0; i < 500 && at('tree').hidden; ++i) await pause(10);
  expect(at('text').value === 'The cat sleeps.' && at('map_title').textContent.startsWith('Encoder') && !at('tree').hidden, 'an address is not understood');
  await live.change({beam: 1});

  at('total').value = 300;
  await changes(() => live.run.total + live.set.model, () => at('fresh').click(), 'it cannot start over');
  await changes(() => live.run.step, () => at('one').click(), 'it does not take one step');
  expect(live.run.step === 1, 'one step is not one step');
  await changes(() => live.run.step > 20 && at('diary').children.length > 0, () => at('go').click(), 'it does not train, or keeps no diary', 120000);
  await changes(() => live.run.on, () => at('go').click(), 'the training does not pause');
  const weights = async () => (await live.ask({do: 'weights'})).weights;
  const stopped = await weights();
  await pause(300);
  expect(await weights() === stopped, 'the training goes on in its pause');
  expect(live.run.losses.at(-1) < 0.9 * live.run.losses[0], 'the loss does not fall');
  expect(document.querySelector('#chart .loss').getAttribute('points').length > 50, 'no curve');
  document.querySelector('.theme').click();
  expect(['light', 'dark'].includes(document.documentElement.dataset.theme), 'the theme switch does not switch');
  localStorage.removeItem('theme');
  document.documentElement.dataset.theme = '';
  return {faults, quickest};
}))";

// -> what the page offers to download, in base64.
constexpr const char* read_saved_weights = R"((async () => {
  await live.ask({do: 'save', path: '/weights.safetensors'});
  const {bytes} = await live.send({read: '/weights.safetensors'});
  let text = '';
  for (const byte of bytes) text += String.fromCharCode(byte);
  return btoa(text);
})())";

// (a translation) -> nothing when the page shows it, else what it shows and the state it is in.
constexpr const char* wait_for_translation = R"((async wanted => {
  const at = id => document.getElementById(id), right = () => at('translation').textContent === wanted && at('file_problem').hidden;
  for (let i = 0; i < 2000 && !right(); ++i) await new Promise(done => setTimeout(done, 10));
  return right() ? '' : `the page shows "${at('translation').textContent}" and says "${at('file_problem').textContent}"`;
}))";

// (the name of a file) -> what the page says about it where the reader sees it, once it does.
constexpr const char* wait_for_file_problem = R"((async name => {
  const line = document.getElementById('file_problem'), said = () => !line.hidden && line.textContent.includes(name);
  for (let i = 0; i < 2000 && !said(); ++i) await new Promise(done => setTimeout(done, 10));
  const box = line.getBoundingClientRect();
  return !said() ? 'nothing' : box.top < 0 || box.bottom > innerHeight ? 'a line out of sight' : line.textContent;
}))";

}  // namespace attn::press
