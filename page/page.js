'use strict';
const $ = id => document.getElementById(id);

// --- The words of a command line. What is typed is the question; pickers and sliders only edit its words.

/** Split as a shell does, without its variables. */
function split(line) {
  const pieces = line.replace(/\\\n/g, ' ').match(/(?:[^\s"']+|"[^"]*"|'[^']*')+/g) || [];
  const words = pieces.map(piece => piece.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single));
  return words[0] === 'llmcalc' ? words.slice(1) : words;
}

const quoted = word => /^[\w@%+=:,./~-]+$/.test(word) ? word : `'${word}'`;
const joined = words => words.map(quoted).join(' ');

/** Where an option's value stands, or -1; a model may be the word behind the verb. */
function placeOf(words, option) {
  if (option === 'model' && words[1] && !words[1].startsWith('-')) return 1;
  const at = words.indexOf('--' + option);
  return at > 0 && at + 1 < words.length ? at + 1 : -1;
}

function valueOf(words, option) {
  const at = placeOf(words, option);
  return at < 0 ? '' : words[at];
}

/** The words with an option's value in its place; without the option where there is none. */
function withValue(words, option, value) {
  const at = placeOf(words, option);
  if (at < 0) return value ? [...words, '--' + option, value] : words;
  if (value) return words.with(at, value);
  return words.filter((_, i) => i !== at && (at === 1 || i !== at - 1));
}

// --- The core, asked one question after the other. Who changes a question while it is answered ends its search.

class Core {
  constructor(module) {
    this.module = module;
    this.files = new Map();
    this.start();
  }

  start() {
    this.waiting = new Map();
    this.worker = new Worker(URL.createObjectURL(new Blob([$('worker').textContent], {type: 'text/javascript'})));
    this.worker.onmessage = ({data: {id, result, error}}) => {
      const {resolve, reject} = this.waiting.get(id);
      this.waiting.delete(id);
      error ? reject(new Error(error)) : resolve(result);
    };
    this.post({deed: 'start', given: this.module});
    for (const given of this.files.values()) this.post({deed: 'drop', given});
  }

  post({deed, given, lasting = false, resolve = () => {}, reject = console.error}) {
    const id = Core.asked++;
    this.waiting.set(id, {deed, given, lasting, resolve, reject});
    this.worker.postMessage({id, deed, given});
  }

  /** What lasts is told again where another question comes in between. */
  tell(deed, given, lasting = true) {
    return new Promise((resolve, reject) => this.post({deed, given, lasting, resolve, reject}));
  }

  ask(words) {
    return this.tell('ask', words, false);
  }

  drop(given) {
    this.files.set(given.name, given);
    return this.tell('drop', given);
  }

  /** Ends what runs; those who wait for an answer wait for ever. */
  restart() {
    const lasting = [...this.waiting.values()].filter(each => each.lasting);
    if (this.waiting.size === 0) return;
    this.worker.terminate();
    this.start();
    lasting.forEach(each => this.post(each));
  }
}
Core.asked = 0;

function compiled(text) {
  return WebAssembly.compile(unpacked(Uint8Array.from(atob(text), letter => letter.charCodeAt(0))));
}

// --- Pickers: options that most people change, with the values that the program itself lists.

const pickers = [
  {option: 'model', label: 'Model', list: 'models'},
  {option: 'gpu', label: 'Accelerator', list: 'gpus'},
  {option: 'method', label: 'Method'},
  {option: 'framework', label: 'Framework'},
  {option: 'engine', label: 'Engine'},
  {option: 'quant', label: 'Weights'},
];
const verbs = ['fit', 'serve', 'plan'];

function labelled(text, element) {
  const label = document.createElement('label');
  label.append(text, element);
  return label;
}

function made(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}

function selectOf(values) {
  const select = made('select', {});
  select.append(...values.map(value => made('option', {value, textContent: value || 'usual'})));
  return select;
}

/** An element of the verb's pickers: a list where its values are few words, else a field that completes names. */
function elementOf(picker, flag) {
  const values = flag.values.split('|');
  if (values.length > 1) return selectOf(['', ...values]);
  const input = made('input', {placeholder: flag.values});
  if (picker.list) input.setAttribute('list', picker.list);
  return input;
}

async function showPickers(core, verb) {
  const flags = await core.tell('options', verb);
  const choice = selectOf(verbs);
  choice.value = verb;
  choice.onchange = () => ask([choice.value, ...words().slice(1)]);
  const labels = [labelled('Verb', choice)];
  for (const picker of pickers) {
    const flag = flags.find(each => each.name === picker.option);
    if (!flag) continue;
    const element = elementOf(picker, flag);
    element.dataset.option = picker.option;
    element.title = flag.help;
    element.onchange = () => ask(withValue(words(), picker.option, element.value));
    labels.push(labelled(picker.label, element));
  }
  $('pickers').replaceChildren(...labels);
}

/** Lists of names for the fields. */
async function showNames(core) {
  for (const [id, verb] of [['models', 'model'], ['gpus', 'gpu']]) {
    const {text} = await core.tell('ask', [verb, 'list', '--format', 'json']);
    const list = made('datalist', {id});
    list.append(...JSON.parse(text)[id].map(each => made('option', {value: each.id, label: each.name || each.hf_id})));
    document.body.append(list);
  }
}

// --- Axes: what the question costs at each power of two of an option, and which of them fit.

const axes = {
  fit: [{option: 'seq', label: 'Tokens of a sequence', from: 9, to: 17}, {option: 'micro-batch', label: 'Sequences at once', from: 0, to: 6}],
  serve: [{option: 'context', label: 'Tokens of a request', from: 10, to: 17}, {option: 'concurrency', label: 'Requests at once', from: 0, to: 8}],
  plan: [],
};

const gib = bytes => `${(bytes / 2 ** 30).toFixed(1)} GiB`;

/** What the two kinds of answers say of room and time. */
function priced(answer) {
  const needed = answer.needed_bytes ?? answer.memory?.needed_bytes;
  const capacity = answer.capacity_bytes ?? answer.memory?.capacity_bytes;
  const step = answer.time?.step_seconds;
  return {verdict: answer.verdict, needed, capacity, said: step ? `, ${step.toPrecision(3)} s a step` : ''};
}

/** The power of two nearest to a value. */
const exponentOf = value => Math.round(Math.log2(value));

function showAxis(axis, value) {
  const element = made('div', {className: 'axis'});
  const shown = made('output', {textContent: value || 'usual'});
  const slider = made('input', {type: 'range', min: axis.from, max: axis.to, value: value ? exponentOf(value) : axis.from});
  const choose = exponent => ask(withValue(words(), axis.option, String(2 ** exponent)));
  slider.oninput = () => { shown.textContent = 2 ** slider.value; };
  slider.onchange = () => choose(slider.value);
  const label = labelled(`${axis.label}: `, shown);
  label.append(slider);
  const prices = made('div', {className: 'prices'});
  for (let exponent = axis.from; exponent <= axis.to; ++exponent) {
    const bar = made('button', {type: 'button', tabIndex: -1, title: String(2 ** exponent)});
    bar.onclick = () => choose(exponent);
    bar.setAttribute('aria-pressed', Number(value) === 2 ** exponent);
    prices.append(bar);
  }
  element.append(label, prices);
  return element;
}

/** Asks one value after the other, until the question is another one. */
async function priceAxis(core, axis, element, line) {
  const bars = element.querySelectorAll('.prices button');
  for (const [i, bar] of bars.entries()) {
    if (line !== asked) return;
    const value = String(2 ** (axis.from + i));
    const {code, text} = await core.ask([...withValue(line, axis.option, value), '--format', 'json']);
    if (code === 2) continue;
    const {verdict, needed, capacity, said} = priced(JSON.parse(text));
    bar.className = verdict;
    bar.style.height = `${Math.min(100, 100 * needed / (capacity || needed))}%`;
    bar.title = `${value}: ${gib(needed)}${said}, ${verdict.replaceAll('_', ' ')}`;
  }
}

async function showAxes(core, answer, line) {
  const elements = axes[line[0]].map(axis => {
    const value = answer.question[axis.option.replace('-', '_')]?.value;
    return [axis, showAxis(axis, value)];
  });
  $('axes').replaceChildren(...elements.map(([, element]) => element));
  for (const [axis, element] of elements) await priceAxis(core, axis, element, line);
}

// --- The answer.

const forms = {page: 'html', text: 'text', JSON: 'json', Markdown: 'markdown'};
let core;
let asked = [];    // the words that were asked last
let pickersOf;     // the verb whose pickers are shown

const words = () => split($('line').value);

function show(form, text) {
  const drawn = form === 'html' && text.startsWith('<');  // the version and help are text in every form
  $('drawn').hidden = !drawn;
  $('written').hidden = drawn;
  if (!drawn) {
    $('written').textContent = text;
    return;
  }
  const page = $('drawn').contentDocument;
  page.documentElement.innerHTML = text.slice(text.indexOf('<head>'), text.lastIndexOf('</html>'));
  const fit = () => { $('drawn').style.height = `${page.documentElement.scrollHeight}px`; };
  page.addEventListener('toggle', fit, true);
  window.onresize = fit;
  fit();
}

function showProblem(text) {
  const {place, problem, hint} = JSON.parse(text);
  $('problem').textContent = [place, problem].filter(Boolean).join(': ') + (hint ? `; ${hint}` : '');
  $('line').classList.add('stale');
}

function showWords(line) {
  for (const element of $('pickers').querySelectorAll('[data-option]')) element.value = valueOf(line, element.dataset.option);
  history.replaceState(null, '', '#' + encodeURIComponent(joined(line)).replaceAll('%20', '+'));
}

/** Answers what is typed; `line` is put there first where a picker makes it. */
async function ask(line) {
  if (line) $('line').value = joined(line);
  line = words();
  asked = line;
  core.restart();
  if (verbs.includes(line[0]) && line[0] !== pickersOf) await showPickers(core, pickersOf = line[0]);
  showWords(line);
  const form = forms[$('form').value];
  const begun = performance.now();
  const {code, text} = await core.ask([...line, '--format', verbs.includes(line[0]) ? form : 'text']);
  const took = performance.now() - begun;
  if (line !== asked) return;
  if (code === 2) return showProblem(text);
  $('problem').textContent = '';
  $('line').classList.remove('stale');
  $('speed').textContent = `answered in ${took.toFixed(0)} ms`;
  show(verbs.includes(line[0]) ? form : 'text', text);
  if (!axes[line[0]]?.length) return $('axes').replaceChildren();
  const {text: answer} = await core.ask([...line, '--format', 'json']);
  if (line === asked && answer.startsWith('{')) await showAxes(core, JSON.parse(answer), line);
}

// --- Files: a model's own is the model of the question, what starts a trainer or a server is the question.

const mostOfWeights = 32 << 20;  // a header of GGUF with 128k tokens has some 9 MiB

async function take(files) {
  for (const file of files) {
    const bytes = new Uint8Array(await file.slice(0, mostOfWeights).arrayBuffer());
    await core.drop({name: file.name, bytes, size: file.size});
  }
  const [first, ...others] = files.map(file => file.name);
  const verb = first.endsWith('.gguf') ? 'serve' : words()[0] || 'fit';
  const gpu = valueOf(words(), 'gpu');
  const line = [verb, first, ...others.flatMap(name => ['--from', name])];
  ask(gpu ? [...line, '--gpu', gpu] : line);
}

async function begin() {
  core = new Core(await compiled($('core').textContent));
  $('form').append(...Object.keys(forms).map(name => made('option', {textContent: name})));
  $('form').onchange = () => ask();
  $('line').oninput = () => ask();
  $('question').onsubmit = event => event.preventDefault();
  $('link').onclick = () => navigator.clipboard.writeText(location.href);
  $('files').onchange = () => take([...$('files').files]);
  document.ondragover = event => event.preventDefault();
  document.ondrop = event => {
    event.preventDefault();
    take([...event.dataTransfer.files]);
  };
  window.onhashchange = () => ask(split(decodeURIComponent(location.hash.slice(1).replaceAll('+', ' '))));
  const linked = decodeURIComponent(location.hash.slice(1).replaceAll('+', ' '));
  await ask(split(linked || 'fit llama-3.1-8b --method qlora --gpu rtx-4090'));
  await showNames(core);
}

begin();
