import { defineAgent, defineTool } from 'durable-ptc'
import { z } from 'zod'

const readings: Readonly<Record<string, readonly number[]>> = {
  harbour: [12.5, 13.25, 11.75, 12.5],
  airport: [9.5, 10.25, 8.75],
  forest: [6.25, 7.5, 6.75, 7.5, 7],
}

const readStation = defineTool({
  name: 'read_station',
  description: 'The temperatures that a station has measured today, in degrees Celsius.',
  input: z.object({ station: z.enum(['harbour', 'airport', 'forest']) }),
  output: z.array(z.number()),
  effect: 'read',
  allowedCallers: ['direct', 'code_execution'],
  run: ({ station }) => [...(readings[station] ?? [])],
})

const stationAnalyst = defineAgent({
  name: 'station_analyst',
  description: 'Computes the mean temperature of one station today.',
  instructions: 'Read the station with read_station, compute the mean with code, and submit it.',
  tools: [readStation],
  output: z.object({ mean: z.number() }),
})

const weatherDesk = defineAgent({
  name: 'weather_desk',
  instructions: 'You lead analysts. Ask station_analyst once for each station, all at the same time, from code.',
  tools: [],
  agents: [stationAnalyst],
})

export const tools = [readStation]
export const agents = [weatherDesk, stationAnalyst]
