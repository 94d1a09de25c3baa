/*
 * Live stream: the events of a run, as they happen, for people who watch it.
 *
 * Owns: the events, their order and offsets, the sinks that store them, and how readers learn of retries, gaps and the
 * end. Boundary: activities publish, the client reads. A workflow does neither, so no event is in a history. Of
 * Temporal, the stream knows only the payload codecs.
 *
 * Invariants:
 * 1. Publishing neither delays nor fails an activity. A sink that fails or is slow costs events, never a run.
 * 2. The records of an attempt at a unit are numbered without gaps. So a reader ignores a record that was stored twice,
 *    and reports one that is missing (`gap`).
 * 3. (execution, epoch, attempt) orders the attempts at a unit. When a newer attempt publishes, the events of older
 *    attempts are void (`reset`), and their later records are ignored.
 * 4. Events are a function of the records before them. A reader that resumes at an offset gets the same events as a
 *    reader from the beginning gets after that offset.
 * 5. A stream ends with `end`. The end comes from Temporal, and does not depend on a worker or the sink.
 * 6. Data that the codecs of the data converter encrypt in histories is encrypted in streams.
 * 7. A stream that gets no new entry is removed after a while.
 */
export { EntryCodec } from './entry-codec.js'
export type { RunEnd, StreamData, StreamEvent, StreamRecord } from './events.js'
export { type Publish, StreamPublisher } from './publisher.js'
export { isOffset, readStream } from './read-stream.js'
export { type StreamEntry, type StreamReader, type StreamSink, streamName } from './sink.js'
export { fileStream, type FileStreamOptions } from './sinks/file-stream.js'
export { redisStream, type RedisStreamOptions } from './sinks/redis-stream.js'
