/*
 * Tells which bytes of the output file were written to stdout, and which to stderr.
 *
 * Descriptors 1 and 2 append to one file, so the file has the order of all writes. Each descriptor has an open file
 * description of its own. Its position is the end of the last write through it, also by a child process.
 *
 * | written                                                       | order | stream                                     |
 * |---------------------------------------------------------------|-------|--------------------------------------------|
 * | by `process.stdout` and `process.stderr`, and so by `console`: | exact | exact                                      |
 * | marked before and after                                       |       |                                            |
 * | otherwise (`writeSync`, children), to one of them since the   | exact | exact                                      |
 * | last mark                                                     |       |                                            |
 * | otherwise, to both since the last mark                        | exact | exact for the last write; what is before   |
 * |                                                               |       | the last write to the other stream counts  |
 * |                                                               |       | for that                                   |
 * | by a path (`/dev/stderr`), which opens the file again         | exact | stdout                                     |
 */
'use strict'
const { fstatSync, readFileSync } = require('node:fs')

const [STDOUT, STDERR] = [0, 1]

class WrittenParts {
  constructor(file) {
    this.file = file
    this.begin()
  }

  /** Begins again; the file is empty. */
  begin() {
    this.parts = [] // { stream, end }, in the order of writing
    this.size = 0 // of the file at the last mark
    this.oldPositions = [STDOUT, STDERR].map(positionOf) // Node.js can't reset them
  }

  /** Attributes the bytes since the last mark: to `stream`, or by the positions of the descriptors. */
  mark(stream) {
    const { size } = fstatSync(this.file)
    if (size === this.size) return
    if (size < this.size) this.begin() // truncated by the program
    if (stream !== undefined) return this.#add(stream, size)
    const written = [STDOUT, STDERR]
      .map((each) => ({ stream: each, end: positionOf(each) }))
      .filter((each) => each.end > this.size && each.end <= size && each.end !== this.oldPositions[each.stream])
      .sort((one, other) => one.end - other.end)
    if (written.length === 2) this.#add(written[0].stream, written[0].end)
    this.#add(written.at(-1)?.stream ?? STDOUT, size)
  }

  #add(stream, end) {
    if (this.parts.at(-1)?.stream === stream) this.parts.pop()
    this.parts.push({ stream, end })
    this.size = end
  }

  /** Returns the parts that end after this offset. */
  after(offset) {
    this.mark()
    return this.parts.filter(({ end }) => end > offset)
  }
}

/** Returns the position of descriptor 1 or 2; -1 when it is unknown. */
function positionOf(stream) {
  try {
    return Number(/^pos:\s*(\d+)/.exec(readFileSync(`/proc/self/fdinfo/${stream + 1}`, 'latin1'))?.[1] ?? -1)
  } catch {
    return -1 // the program has closed it
  }
}

module.exports = { STDERR, STDOUT, WrittenParts }
