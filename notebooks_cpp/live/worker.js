// @ts-check
// The engine's side of the live page: a worker that has the C++ engine (build/live/engine.js) and answers requests, in
// order. Training is a loop of short requests that it makes to itself, so that others are answered in between.
//
//   page -> worker   {wasm}                        once: the program, gzip in base64
//                    {id, request}                 to live.hpp; answered by {id, answer}
//                    {id, write: path, gzip | bytes}   a file for the engine's file system; answered by {id, answer: {}}
//                    {id, read: path}              answered by {id, answer: {bytes}}
//                    {train: true | false}         until the last step or until told to stop: {progress} now and then
"use strict";
/** @type {any} */ const scope = self;
/** @type {any} */ let program = null;
let training = false;
const slice = 40;  // milliseconds of training between two looks at what else is asked

/** @param {string} text @returns {Promise<Uint8Array>} */
const unpack = async text => {
  const bytes = Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
};
/** @param {object} request */
const ask = request => JSON.parse(program.ccall("live_answer", "string", ["string"], [JSON.stringify(request)]));

// A message to oneself comes after those that wait, and without the pause of a timer.
const channel = new MessageChannel();
channel.port1.onmessage = () => {
  if (!training) return;
  const end = performance.now() + slice, losses = [];
  let answer;
  do {
    answer = ask({ do: "train", steps: 1 });
    losses.push(...answer.losses ?? []);
  } while (!answer.error && answer.step < answer.total && performance.now() < end);
  training = !answer.error && answer.step < answer.total;
  scope.postMessage({ progress: { ...answer, losses, training } });
  channel.port2.postMessage(0);
};

/** @type {Promise<void>} */ let before = Promise.resolve();
scope.onmessage = (/** @type {MessageEvent} */ { data }) => {
  before = before.then(() => handle(data)).catch(problem => scope.postMessage({ id: data.id, answer: { error: `The engine stopped: ${problem}. Reload the page.` } }));
};
/** @param {any} data */
const handle = async data => {
  if (data.wasm) {
    program = await scope.engine({ wasmBinary: await unpack(data.wasm) });
    scope.postMessage({ ready: true });
  } else if ("train" in data) {
    if (data.train && !training) channel.port2.postMessage(0);
    training = data.train;
  } else {
    let answer = {};
    if (data.write) program.FS.writeFile(data.write, data.bytes ? new Uint8Array(data.bytes) : await unpack(data.gzip));
    else if (data.read) answer = { bytes: program.FS.readFile(data.read) };
    else answer = ask(data.request);
    scope.postMessage({ id: data.id, answer });
  }
};
