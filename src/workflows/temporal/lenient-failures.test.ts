import { ActivityFailure, ApplicationFailure, CancelledFailure, defaultPayloadConverter } from '@temporalio/common'
import type { ProtoFailure } from '@temporalio/common'
import proto from '@temporalio/proto'
import { describe, expect, it } from 'vitest'
import { failureConverter as encoded } from './encoded-failures.js'
import { failureConverter as lenient } from './lenient-failures.js'

const { Failure } = proto.temporal.api.failure.v1

/** Returns the failure for a reader. */
function convert(thrown: unknown, converter = lenient): ProtoFailure {
  const bytes = Failure.encode(converter.errorToFailure(thrown, defaultPayloadConverter)).finish()
  expect(bytes.length).toBeLessThan(1_500_000)
  return Failure.decode(bytes)
}

function read(thrown: unknown, converter = lenient): Error {
  return converter.failureToError(convert(thrown, converter), defaultPayloadConverter)
}

function depthOf(failure: ProtoFailure): number {
  return failure.cause ? 1 + depthOf(failure.cause) : 1
}

function fail(): never {
  throw new Error('a getter')
}

const hostileProxy = () =>
  new Proxy(new Error('a proxy'), { get: fail, has: fail, getPrototypeOf: fail, getOwnPropertyDescriptor: fail })

class Hostile extends ApplicationFailure {
  override get message(): string {
    return fail()
  }
  override get stack(): string {
    return fail()
  }
}

const cyclic = new Error('a cycle')
cyclic.cause = new Error('its cause', { cause: cyclic })

function chain(length: number): Error {
  let error = new Error('the last cause')
  for (let depth = 1; depth < length; depth++) error = ApplicationFailure.create({ message: 'm', cause: error })
  return error
}

describe.each([
  ['lenient', lenient],
  ['encoded', encoded],
] as const)('the %s failure converter', (_name, converter) => {
  it.each<[string, unknown]>([
    ['a proxy', hostileProxy()],
    ['a failure with getters that throw', new Hostile()],
    ['an error with a proxy as its cause', new Error('m', { cause: hostileProxy() })],
    ['a message, stack and type that are no texts', Object.assign(new ApplicationFailure('m', [1, 2] as never), odd())],
    ['an object that has no JSON', { toJSON: fail, toString: fail }],
    ['a symbol', Symbol('s')],
    ['undefined', undefined],
    ['details that have no JSON', ApplicationFailure.create({ message: 'm', details: [1n] })],
    ['details with a cycle', ApplicationFailure.create({ message: 'm', details: [cyclicObject()] })],
    ['a cancellation with details that have no JSON', new CancelledFailure('m', [1n])],
    ['an activity failure without a type', new ActivityFailure('m', undefined as never, undefined, 'TIMEOUT', 'me')],
  ])('the lenient failure converter writes %s', (_what, thrown) => {
    expect(read(thrown, converter)).toBeInstanceOf(Error)
  })

  it('a written failure has a limited chain of causes, also with a cycle', () => {
    for (const thrown of [chain(10_000), cyclic]) expect(depthOf(convert(thrown, converter))).toBe(11)
    expect(depthOf(convert(chain(4), converter))).toBe(4)
  })

  it('a failure from another worker has a limited chain of causes', () => {
    let failure: ProtoFailure = { message: 'the last cause' }
    for (let depth = 1; depth < 60; depth++) failure = { message: 'm', cause: failure }
    const error = converter.failureToError(failure, defaultPayloadConverter)
    expect(depthOf(convert(error, converter))).toBe(11)
    expect(depthOf(convert(new Error('m', { cause: error }), converter))).toBe(11)
  })

  it('long texts of a failure are cut between characters, in bounded time', () => {
    const started = performance.now()
    for (const text of ['😀'.repeat(500_000), ' '.repeat(1_000_000), ' '.repeat(9_000), `a${'😀'.repeat(20_000)}`]) {
      const error = ApplicationFailure.create({ message: text, type: text, details: ['kept'] })
      error.stack = `${text}\n    at x`
      const converted = read(error, converter)
      expect(converted).toMatchObject({ details: ['kept'] })
      for (const cut of [converted.message, converted.stack, (converted as ApplicationFailure).type]) {
        expect(cut?.length).toBeLessThan(10_100)
        expect(cut?.isWellFormed()).toBe(true)
      }
      expect(read(text, converter).message.length).toBeLessThan(10_200)
    }
    expect(performance.now() - started).toBeLessThan(20_000)
  })

  it.each([NaN, Infinity, -1, -1e300, 1e300, 'soon', {}])('a failure has no delay of %s', (nextRetryDelay) => {
    const failure = convert(
      ApplicationFailure.create({ message: 'm', nextRetryDelay: nextRetryDelay as never }),
      converter,
    )
    expect(failure.applicationFailureInfo?.nextRetryDelay ?? null).toBeNull()
    expect(
      read(ApplicationFailure.create({ message: 'm', nextRetryDelay: nextRetryDelay as never }), converter),
    ).toMatchObject({
      message: 'm',
    })
  })

  it('a failure keeps its message, type, details, delay, stack and causes', () => {
    const cause = new CancelledFailure('why')
    const thrown = ApplicationFailure.create({
      message: 'm',
      type: 'T',
      details: [{ a: 1 }],
      nextRetryDelay: 1_500,
      cause,
    })
    thrown.stack = 'Error: m\n    at tool (tool.js:1:1)'
    expect(read(thrown, converter)).toMatchObject({
      message: 'm',
      type: 'T',
      nonRetryable: false,
      details: [{ a: 1 }],
      stack: thrown.stack,
      cause: { message: 'why' },
    })
    expect(convert(thrown, converter).applicationFailureInfo?.nextRetryDelay).toMatchObject({ nanos: 500_000_000 })
  })

  it('a failure that can not be written unchanged has its readable parts', () => {
    const thrown = ApplicationFailure.create({ message: 'm', type: 'T', nonRetryable: true, details: [1n] })
    expect(read(thrown, converter)).toMatchObject({ message: 'm', type: 'T', nonRetryable: true })
    expect(read(new CancelledFailure('m', [1n]), converter)).toBeInstanceOf(CancelledFailure)
    expect(read(hostileProxy(), converter).message).toBe('something was thrown that can not be read')
  })
})

function odd() {
  return { message: { length: 3 }, stack: ['a'] }
}

function cyclicObject(): object {
  const value: { self?: object } = {}
  value.self = value
  return value
}
