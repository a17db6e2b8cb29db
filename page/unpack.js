// LZMA, which no browser unpacks by itself and which takes a quarter less than gzip (Igor Pavlov, LZMA specification,
// 7-zip.org/sdk.html): the size in four bytes, lowest first, then the coder's stream with lc 3, lp 0 and pb 2.

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

  length(odds, phase) {
    if (!this.bit(odds, 0)) return 2 + this.highestFirst(odds, 2 + 8 * phase, 3);
    if (!this.bit(odds, 1)) return 10 + this.highestFirst(odds, 34 + 8 * phase, 3);
    return 18 + this.highestFirst(odds, 66, 8);
  }
}

function unpacked(bytes) {
  const out = new Uint8Array(new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true));
  const bits = new Bits(bytes, 4);
  const odds = count => new Uint16Array(count).fill(1024);
  const [isMatch, isShortRepeat] = [odds(48), odds(48)];
  const [isRepeat, isOlder, isOldest, isLast] = [odds(12), odds(12), odds(12), odds(12)];
  const [matchLength, repeatLength] = [odds(322), odds(322)];
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
    const phase = n & 3;
    if (!bits.bit(isMatch, 4 * state + phase)) {
      out[n] = letter();
      ++n;
      continue;
    }
    let length = 1;
    if (!bits.bit(isRepeat, state)) {
      length = bits.length(matchLength, phase);
      state = state < 7 ? 7 : 10;
      distances = [distance(length), ...distances.slice(0, 3)];
    } else {
      const which = repeated();
      const isShort = which === 0 && !bits.bit(isShortRepeat, 4 * state + phase);
      distances.unshift(...distances.splice(which, 1));
      if (!isShort) length = bits.length(repeatLength, phase);
      state = isShort ? (state < 7 ? 9 : 11) : state < 7 ? 8 : 11;
    }
    for (const end = n + length; n < end; ++n) out[n] = out[n - distances[0] - 1];
  }
  return out;
}
