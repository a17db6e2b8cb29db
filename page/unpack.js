// The core as scripts/build-page packs it: LZMA, which no browser unpacks by itself and which takes a quarter less than
// gzip (Igor Pavlov, LZMA specification, 7-zip.org/sdk.html), with lc 3, lp 0 and pb 0, and what stands in its functions
// apart by kinds, which takes 3 % less.

/** Bits by what came of those before in the same place (the specification's "Range Decoder"). */
class Bits {
  constructor(bytes, at) {
    Object.assign(this, {bytes, at: at + 5, range: 0xffffffff, code: new DataView(bytes.buffer, bytes.byteOffset).getUint32(at + 1)});
  }

  refill() {
    if (this.range >= 2 ** 24) return;
    this.range = (this.range << 8) >>> 0;
    this.code = ((this.code << 8) | this.bytes[this.at++]) >>> 0;
  }

  bit(odds, place) {
    const bound = (this.range >>> 11) * odds[place];
    const bit = this.code < bound ? 0 : 1;
    if (bit) {
      this.range -= bound;
      this.code -= bound;
      odds[place] -= odds[place] >>> 5;
    } else {
      this.range = bound;
      odds[place] += (2048 - odds[place]) >>> 5;
    }
    this.refill();
    return bit;
  }

  even(count) {
    let value = 0;
    for (; count > 0; --count) {
      this.range >>>= 1;
      const bit = this.code < this.range ? 0 : 1;
      if (bit) this.code -= this.range;
      value = 2 * value + bit;
      this.refill();
    }
    return value;
  }

  highestFirst(odds, place, count) {
    let node = 1;
    for (let n = 0; n < count; ++n) node = 2 * node + this.bit(odds, place + node);
    return node - (1 << count);
  }

  lowestFirst(odds, place, count) {
    let [node, value] = [1, 0];
    for (let n = 0; n < count; ++n) {
      const bit = this.bit(odds, place + node);
      node = 2 * node + bit;
      value += bit << n;
    }
    return value;
  }

  length(odds) {
    if (!this.bit(odds, 0)) return 2 + this.highestFirst(odds, 2, 3);
    if (!this.bit(odds, 1)) return 10 + this.highestFirst(odds, 10, 3);
    return 18 + this.highestFirst(odds, 18, 8);
  }
}

/** So many bytes of the coder's stream. */
function decoded(bytes, size) {
  const out = new Uint8Array(size);
  const bits = new Bits(bytes, 0);
  const odds = count => new Uint16Array(count).fill(1024);
  const [isMatch, isShortRepeat] = [odds(12), odds(12)];
  const [isRepeat, isOlder, isOldest, isLast] = [odds(12), odds(12), odds(12), odds(12)];
  const [matchLength, repeatLength] = [odds(274), odds(274)];
  const [slots, near, aligned, letters] = [odds(256), odds(115), odds(16), odds(8 * 768)];
  let [n, state, distances] = [0, 0, [0, 0, 0, 0]];

  function letter() {
    const place = 768 * (n > 0 ? out[n - 1] >> 5 : 0);
    let symbol = 1;
    for (let expected = state < 7 ? -1 : out[n - distances[0] - 1]; symbol < 256;) {
      const next = (expected >> 7) & 1;
      const bit = bits.bit(letters, place + (expected < 0 ? 0 : (1 + next) << 8) + symbol);
      symbol = 2 * symbol + bit;
      expected = expected < 0 || next !== bit ? -1 : (expected << 1) & 255;
    }
    state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
    return symbol & 255;
  }

  function distance(length) {
    const slot = bits.highestFirst(slots, 64 * Math.min(length - 2, 3), 6);
    if (slot < 4) return slot;
    const count = (slot >> 1) - 1;
    const base = (2 + (slot & 1)) * 2 ** count;
    if (slot < 14) return base + bits.lowestFirst(near, base - slot, count);
    return base + 16 * bits.even(count - 4) + bits.lowestFirst(aligned, 0, 4);
  }

  /** Which of the last distances comes again: its number. */
  function repeated() {
    if (!bits.bit(isOlder, state)) return 0;
    if (!bits.bit(isOldest, state)) return 1;
    return bits.bit(isLast, state) ? 3 : 2;
  }

  while (n < out.length) {
    if (!bits.bit(isMatch, state)) {
      out[n] = letter();
      ++n;
      continue;
    }
    let length = 1;
    if (!bits.bit(isRepeat, state)) {
      length = bits.length(matchLength);
      state = state < 7 ? 7 : 10;
      distances = [distance(length), ...distances.slice(0, 3)];
    } else {
      const which = repeated();
      const isShort = which === 0 && !bits.bit(isShortRepeat, state);
      distances.unshift(...distances.splice(which, 1));
      if (!isShort) length = bits.length(repeatLength);
      state = isShort ? (state < 7 ? 9 : 11) : state < 7 ? 8 : 11;
    }
    for (const end = n + length; n < end; ++n) out[n] = out[n - distances[0] - 1];
  }
  return out;
}

// --- What stands in functions: an opcode, of the first to the last, and the numbers behind it, by their kinds
// (WebAssembly specification, "Binary Format", "Instructions", and the exceptions of 2023). Those behind 0xfc follow the
// others.

const immediates = [
  [2, 4, "block"], [6, 6, "block"], [7, 9, "label"], [12, 13, "label"], [14, 14, "table"], [16, 16, "callee"],
  [17, 17, "rare", "rare"], [24, 24, "label"], [32, 34, "local"], [35, 36, "global"], [40, 62, "align", "offset"],
  [63, 64, "rare"], [65, 65, "int"], [66, 66, "long"], [67, 67, "float"], [68, 68, "float"], [266, 266, "rare", "rare"],
  [267, 267, "rare"]
];
const kinds = ["rest", "head", "opcode", ...new Set(immediates.flatMap(row => row.slice(2)))];

/** Puts `count` functions together, in the rest from `begin` on. */
function assembled(parts, begin, count) {
  const out = new Uint8Array(kinds.reduce((sum, kind) => sum + parts[kind].length, 0));
  const at = Object.fromEntries(kinds.map(kind => [kind, 0]));
  const behind = Array.from({length: 268}, (_, code) => immediates.find(([first, last]) => first <= code && code <= last)?.slice(2) ?? []);
  out.set(parts.rest.subarray(0, begin));
  let n = begin;

  function one(kind) {
    const byte = parts[kind][at[kind]];
    at[kind] += 1;
    out[n] = byte;
    n += 1;
    return byte;
  }

  function number(kind) {
    for (let [value, shift] = [0, 0];; shift += 7) {
      const byte = one(kind);
      value += (byte & 127) * 2 ** shift;
      if (byte < 128) return value;
    }
  }

  function follow(kind, code) {
    if (kind === "float") for (let left = 4 * (code - 66); left > 0; --left) one(kind);
    else for (let left = kind === "table" ? number(kind) + 1 : 1; left > 0; --left) number(kind);
  }

  for (; count > 0; --count) {
    const size = number("head");
    const end = n + size;
    for (let groups = number("head"); groups > 0; --groups) number("head") + one("head");
    while (n < end) {
      const code = one("opcode");
      const whole = code === 0xfc ? 256 + one("opcode") : code;
      behind[whole].forEach(kind => follow(kind, whole));
    }
  }
  out.set(parts.rest.subarray(begin), n);
  return out;
}

/** Where functions begin and how many there are, and of each kind its size, how long it is packed, and itself. */
function unpacked(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const parts = {};
  let at = 8;
  for (const kind of kinds) {
    const [size, length] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    parts[kind] = decoded(bytes.subarray(at + 8, at + 8 + length), size);
    at += 8 + length;
  }
  return assembled(parts, view.getUint32(0, true), view.getUint32(4, true));
}
