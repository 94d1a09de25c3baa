import { once } from 'node:events'
import Dockerode from 'dockerode'

/** Runs a command in a running container and returns its exit code. */
export async function execInContainer(container: string, command: readonly string[]): Promise<number | null> {
  const exec = await new Dockerode().getContainer(container).exec({ Cmd: [...command], AttachStdout: true })
  const output = await exec.start({})
  const ended = once(output, 'end')
  output.resume()
  await ended
  return (await exec.inspect()).ExitCode
}
