// The core, in a thread of its own: who types never waits for an answer.
let core;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** What the core asks of a system: there is none, and nothing of what it may ask for is needed for an answer. */
const noSystem = new Proxy({}, {get: () => () => 52 /* ENOSYS of WASI */});

/** Bytes in the core's memory, with a zero behind them. */
function put(bytes) {
  const at = core.malloc(bytes.length + 1);
  const memory = new Uint8Array(core.memory.buffer, at, bytes.length + 1);
  memory.set(bytes);
  memory[bytes.length] = 0;
  return at;
}

function textAt(at) {
  const memory = new Uint8Array(core.memory.buffer);
  return decoder.decode(memory.subarray(at, memory.indexOf(0, at)));
}

/** Calls with texts and gives their memory back. */
function withTexts(texts, call) {
  const places = texts.map(text => put(encoder.encode(text)));
  try {
    return call(...places);
  } finally {
    places.forEach(at => core.llmcalc_free(at));
  }
}

function ask(words) {
  return withTexts([JSON.stringify(words), '\0'.repeat(4)], (line, place) => {
    const code = core.page_ask(line, place);
    const answer = new DataView(core.memory.buffer).getUint32(place, true);
    const text = textAt(answer);
    core.llmcalc_free(answer);
    return {code, text};
  });
}

function options(verb) {
  return withTexts([verb], place => JSON.parse(textAt(core.page_options(place))));
}

function drop({name, bytes, size}) {
  const head = put(bytes);
  withTexts([name], place => core.page_drop(place, head, bytes.length, size));
  core.llmcalc_free(head);
}

const deeds = {
  async start(module) {
    core = (await WebAssembly.instantiate(module, {wasi_snapshot_preview1: noSystem})).exports;
    core._initialize();
  },
  ask,
  options,
  drop,
};

onmessage = async ({data: {id, deed, given}}) => {
  try {
    postMessage({id, result: await deeds[deed](given)});
  } catch (error) {
    postMessage({id, error: String(error)});
  }
};
