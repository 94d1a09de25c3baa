import { expect, it } from 'vitest'
import { zeroCounts } from '../../common/run/runs.js'
import { Messages } from './messages.js'

const answered = (answer: string) => ({ status: 'answered', answer, isTakenBack: false }) as const

it('messages are answered in the order of their acceptance, with the usage of each', () => {
  const messages = new Messages()
  messages.accept('a', { text: 'first', steer: false })
  messages.accept('b', { text: 'second', steer: false })
  expect(messages.begin({ ...zeroCounts, turns: 5, toolCalls: 2 })).toMatchObject({ id: 'a', number: 1, text: 'first' })
  messages.answer(answered('1'), { ...zeroCounts, turns: 8, toolCalls: 3 }, 'a')
  expect(messages.answerTo('a')).toEqual({
    ...answered('1'),
    message: 1,
    turns: 3,
    cells: 0,
    toolCalls: 1,
    isNew: true,
  })
  expect(messages.begin(zeroCounts)).toMatchObject({ id: 'b', number: 2 })
  expect(messages.isKnown('a') && messages.isKnown('b') && !messages.isKnown('c')).toBe(true)
  expect(messages.answerTo('b')).toBeUndefined()
})

it('only messages that steer join the current message, and their answers name it', () => {
  const messages = new Messages()
  messages.accept('a', { text: 'first', steer: false })
  messages.begin(zeroCounts)
  messages.accept('b', { text: 'later', steer: false })
  messages.accept('c', { text: 'now', steer: true })
  expect(messages.joinSteering()).toMatchObject([{ id: 'c', text: 'now' }])
  expect(messages.joinSteering()).toEqual([])
  messages.answer(answered('both'), zeroCounts, 'a')
  expect(messages.answerTo('c')).toMatchObject({ answer: 'both', message: 3, joined: 1, isNew: false })
  expect(messages.answerTo('a')).not.toHaveProperty('joined')
  expect(messages.begin(zeroCounts)).toMatchObject({ id: 'b' })
})

it('a conversation keeps the latest answers, by number and by size', () => {
  const messages = new Messages()
  const answer = (id: string, text: string) => {
    messages.accept(id, { text: 'x', steer: false })
    messages.begin(zeroCounts)
    messages.answer(answered(text), zeroCounts, '')
  }
  for (let n = 1; n <= 25; n += 1) answer(`m${n}`, `${n}`)
  expect(messages.answerTo('m5')).toBeUndefined()
  expect(messages.answerTo('m6')).toMatchObject({ answer: '6' })
  answer('large', 'x'.repeat(150_000))
  expect(messages.answerTo('m7')).toMatchObject({ answer: '7' })
  answer('larger', 'x'.repeat(300_000))
  expect(messages.answerTo('large')).toBeUndefined()
  expect(messages.answerTo('larger')?.answer).toHaveLength(300_000)
})

it('a conversation accepts messages until 100 wait, and continues with the state of the previous execution', () => {
  const messages = new Messages()
  for (let n = 1; n <= 100; n += 1) {
    expect(messages.isQueueFull).toBe(false)
    messages.accept(`m${n}`, { text: 'x', steer: false })
  }
  expect(messages.isQueueFull).toBe(true)
  messages.begin(zeroCounts)
  const next = new Messages(messages.state)
  expect(next.current).toMatchObject({ messages: [{ id: 'm1' }] })
  expect(next.isKnown('m100')).toBe(true)
})
