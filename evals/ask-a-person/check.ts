interface Run {
  readonly calls: readonly { readonly tool: string; readonly arguments: Readonly<Record<string, unknown>> }[]
}

export function check({ calls }: Run) {
  const booked = calls.find(({ tool }) => tool === 'book_room')?.arguments
  const passed = booked?.['room'] === 'Hopper' && booked['hour'] === 14
  return { passed, reason: `booked ${JSON.stringify(booked)}` }
}
