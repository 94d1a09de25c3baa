import { z } from 'zod'
import type { StreamSink } from './sink.js'

const methods = ['append', 'reader', 'close'] as const satisfies readonly (keyof StreamSink)[]

const isSink = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  methods.every((method) => typeof Reflect.get(value, method) === 'function')

export const streamOption = z.custom<StreamSink>(
  isSink,
  'must be the result of fileStream or redisStream, or a StreamSink',
)
