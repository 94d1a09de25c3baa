import zlib from 'node:zlib'

const endOfDirectory = 0x06054b50
const entryOfDirectory = 0x02014b50
const localHeader = 0x04034b50
const endBytes = 22
const maxCommentBytes = 65_535
const stored = 0
const deflated = 8
const isEncrypted = 1
const symbolicLink = 0o120000
const typeOfFile = 0o170000

/**
 * Returns the files of a zip archive, with paths that stay in the folder of the archive. Reads only what the limits
 * allow: an archive may claim any size.
 *
 * @param {Buffer} archive
 * @param {{ bytes: number, files: number }} limits
 * @returns {{ path: string, content: Buffer }[]}
 */
export function unzip(archive, limits) {
  const end = findEnd(archive)
  const count = archive.readUInt16LE(end + 10)
  if (count > limits.files) throw new Error(`it has more than ${limits.files} files`)
  const files = []
  let bytes = 0
  let position = archive.readUInt32LE(end + 16)
  for (let index = 0; index < count; index += 1) {
    const entry = readEntry(archive, position)
    position = entry.end
    if (entry.path.endsWith('/')) continue
    const problem = problemOf(entry)
    if (problem !== undefined) throw new Error(`${JSON.stringify(entry.path.slice(0, 200))} ${problem}`)
    bytes += entry.bytes
    if (bytes > limits.bytes) throw new Error(`its files have more than ${limits.bytes} bytes`)
    files.push({ path: entry.path, content: readContent(archive, entry) })
  }
  return files
}

function findEnd(archive) {
  const lowest = Math.max(0, archive.length - endBytes - maxCommentBytes)
  for (let position = archive.length - endBytes; position >= lowest; position -= 1) {
    if (archive.readUInt32LE(position) === endOfDirectory) return position
  }
  throw new Error('it is no zip archive')
}

function readEntry(archive, start) {
  if (archive.readUInt32LE(start) !== entryOfDirectory) throw new Error('its list of files is damaged')
  const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((offset) => archive.readUInt16LE(start + offset))
  const name = start + 46
  return {
    path: archive.toString('utf8', name, name + nameBytes),
    flags: archive.readUInt16LE(start + 8),
    method: archive.readUInt16LE(start + 10),
    checksum: archive.readUInt32LE(start + 16),
    compressedBytes: archive.readUInt32LE(start + 20),
    bytes: archive.readUInt32LE(start + 24),
    mode: archive.readUInt16LE(start + 40),
    header: archive.readUInt32LE(start + 42),
    end: name + nameBytes + extraBytes + commentBytes,
  }
}

function problemOf({ path, flags, method, mode }) {
  const names = path.split('/')
  // oxlint-disable-next-line no-control-regex
  if (names.some((name) => ['', '.', '..'].includes(name) || /[\\\0-\x1f\ufffd]/.test(name)))
    return 'is no path in the folder of the archive'
  if ((mode & typeOfFile) === symbolicLink) return 'is a link'
  if ((flags & isEncrypted) !== 0) return 'is encrypted'
  return method === stored || method === deflated ? undefined : 'is compressed by an unknown method'
}

function readContent(archive, { path, header, method, compressedBytes, bytes, checksum }) {
  if (archive.readUInt32LE(header) !== localHeader) throw new Error(`${path} is damaged`)
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28)
  const data = archive.subarray(start, start + compressedBytes)
  const content = method === stored ? data : zlib.inflateRawSync(data, { maxOutputLength: Math.max(bytes, 1) })
  if (content.length !== bytes || zlib.crc32(content) !== checksum) throw new Error(`${path} is damaged`)
  return content
}
