import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import zlib from 'node:zlib'

/** What a file of an archive claims, in place of what it is. */
interface FileOfArchive {
  readonly path: string
  readonly content: Uint8Array | string
  readonly claims?: {
    readonly bytes?: number
    readonly checksum?: number
    readonly mode?: number
    readonly flags?: number
  }
}

/** A zip archive. */
export function zip(files: readonly FileOfArchive[]): Buffer {
  const parts: Buffer[] = []
  const entries: Buffer[] = []
  let position = 0
  for (const { path, content, claims = {} } of files) {
    const name = Buffer.from(path)
    const data = Buffer.from(content)
    const packed = zlib.deflateRawSync(data)
    const local = Buffer.alloc(30)
    local.writeUInt32LE(0x04034b50, 0)
    local.writeUInt16LE(name.length, 26)
    const entry = Buffer.alloc(46)
    entry.writeUInt32LE(0x02014b50, 0)
    entry.writeUInt16LE(claims.flags ?? 0, 8)
    entry.writeUInt16LE(8, 10)
    entry.writeUInt32LE(claims.checksum ?? zlib.crc32(data), 16)
    entry.writeUInt32LE(packed.length, 20)
    entry.writeUInt32LE(claims.bytes ?? data.length, 24)
    entry.writeUInt16LE(name.length, 28)
    entry.writeUInt16LE(claims.mode ?? 0o100644, 40)
    entry.writeUInt32LE(position, 42)
    parts.push(local, name, packed)
    entries.push(entry, name)
    position += 30 + name.length + packed.length
  }
  const directory = Buffer.concat(entries)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(files.length, 8)
  end.writeUInt16LE(files.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(position, 16)
  return Buffer.concat([...parts, directory, end])
}

/** The description of a package, without which an archive is no wheel. */
export function metadata(name: string, version: string): FileOfArchive {
  const content = `Metadata-Version: 2.1\nName: ${name}\nVersion: ${version}\n`
  return { path: `${name}-${version}.dist-info/METADATA`, content }
}

/** Writes a wheel in Python, and returns its name. */
export async function writeWheel(
  folder: string,
  name: string,
  files: readonly FileOfArchive[],
  { version = '1.0', tags = 'py3-none-any' } = {},
): Promise<string> {
  const file = `${name}-${version}-${tags}.whl`
  await writeFile(join(folder, file), zip([...files, metadata(name, version)]))
  return file
}

/** The tags of native wheels for the installed Pyodide. */
export const nativeTags = 'cp314-cp314-pyemscripten_2026_0_wasm32'

/** The ending of native modules. */
export const nativeSuffix = '.cpython-314-wasm32-emscripten.so'

/**
 * A native module without functions, as a compiler of C would make it:
 *
 *   static PyModuleDef definition = { .m_name = name };
 *   PyObject *PyInit_NAME() { return PyModuleDef_Init(&definition); }
 */
export function nativeModule(name: string): Buffer {
  const definitionBytes = 64
  const nameOffset = 20 // of m_name in the definition
  const text = Buffer.from(`${name}\0`)
  const bytes = definitionBytes + text.length
  const [i32, memory, global, func] = [0x7f, 0x02, 0x03, 0x00]
  const imports = [
    [...string('env'), ...string('memory'), memory, 0x00, 0x01],
    [...string('env'), ...string('__memory_base'), global, i32, 0x00],
    [...string('env'), ...string('PyModuleDef_Init'), func, 0x00],
  ]
  const nameAddress = [0x23, 0x00, 0x41, ...signed(definitionBytes), 0x6a] // global.get 0, i32.const, i32.add
  const storeName = [0x23, 0x00, ...nameAddress, 0x36, 0x02, nameOffset] // global.get 0, …, i32.store
  const body = [0x00, ...storeName, 0x23, 0x00, 0x10, 0x00, 0x0b] // global.get 0, call 0, end
  const data = [0x00, 0x23, 0x00, 0x0b, ...number(bytes), ...Buffer.alloc(definitionBytes), ...text]
  const memoryInfo = [...number(bytes), 0x02, 0x00, 0x00]
  const header = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00]
  return Buffer.from([
    ...header,
    ...section(0, [...string('dylink.0'), 0x01, ...number(memoryInfo.length), ...memoryInfo]),
    ...section(1, [0x02, 0x60, 0x01, i32, 0x01, i32, 0x60, 0x00, 0x01, i32]),
    ...section(2, [imports.length, ...imports.flat()]),
    ...section(3, [0x01, 0x01]),
    ...section(7, [0x01, ...string(`PyInit_${name}`), func, 0x01]),
    ...section(10, [0x01, ...number(body.length), ...body]),
    ...section(11, [0x01, ...data]),
  ])
}

function section(id: number, content: readonly number[]): readonly number[] {
  return [id, ...number(content.length), ...content]
}

function string(text: string): readonly number[] {
  return [...number(text.length), ...Buffer.from(text)]
}

/** LEB128, the encoding of WebAssembly. */
function number(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...number(value >>> 7)]
}

/** LEB128 of a signed number that is not negative. */
function signed(value: number): readonly number[] {
  return value < 0x40 ? [value] : [(value & 0x7f) | 0x80, ...signed(value >>> 7)]
}
