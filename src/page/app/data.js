/* data.js - reads the page's blocks (block.h): base64, gzip, named columns.
 *
 *   const columns = await pp.block('main');      null where the page has no such block
 *   columns.get('rows.stack')                     Uint32Array
 *   columns.json('meta')                          parsed
 */

const ARRAYS = {1: Uint8Array, 2: Uint16Array, 4: Uint32Array, 8: Float64Array};

class Columns {
  constructor(buffer) {
    this.map = new Map();
    const numbers = new Uint32Array(buffer, 0, buffer.byteLength >> 2);
    const text = new TextDecoder();
    for (let at = 0; at + 16 <= buffer.byteLength;) {
      const [kind, nameSize, size] = numbers.subarray(at >> 2, (at >> 2) + 3);
      const start = at + 16 + padded(nameSize);
      const name = text.decode(new Uint8Array(buffer, at + 16, nameSize));
      this.map.set(name, kind ? new ARRAYS[kind](buffer, start, size / kind)
        : text.decode(new Uint8Array(buffer, start, size)));
      at = start + padded(size);
    }
  }

  has(name) { return this.map.has(name); }

  get(name) {
    if (!this.map.has(name))
      throw new Error(`the page has no column ${name}`);
    return this.map.get(name);
  }

  json(name) { return JSON.parse(this.get(name)); }
}

const padded = size => Math.ceil(size / 8) * 8;

function bytesOf(base64) {
  if (Uint8Array.fromBase64)
    return Uint8Array.fromBase64(base64);
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; i++)
    bytes[i] = text.charCodeAt(i);
  return bytes;
}

const read = new Map();

pp.block = name => {
  if (!read.has(name))
    read.set(name, decode(name));
  return read.get(name);
};

async function decode(name) {
  const element = document.querySelector(`script[type="application/x-polyperf"][data-name="${name}"]`);
  if (!element)
    return null;
  const packed = new Blob([bytesOf(element.textContent)]).stream();
  element.remove(); /* its text is not needed twice */
  return new Columns(await new Response(packed.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer());
}
