import { execFileSync } from 'node:child_process'
import { randomBytes, randomInt } from 'node:crypto'

/**
 * A network namespace with one link to this machine, which can be cut. Needs root and `ip`. The addresses are in
 * 198.18.0.0/15, which is reserved for tests (RFC 2544).
 */
export class NetworkNamespace {
  readonly #name: string
  /** The end of the link on this machine. */
  readonly #link: string
  /** The address of this machine, as processes in the namespace see it. */
  readonly gateway: string

  private constructor(name: string, link: string, gateway: string) {
    this.#name = name
    this.#link = link
    this.gateway = gateway
  }

  static create(): NetworkNamespace {
    // The name of a link has at most 15 characters.
    const name = `ptc-${randomBytes(4).toString('hex')}`
    const [link, inside] = [`${name}-0`, `${name}-1`]
    const subnet = `198.${18 + randomInt(2)}.${randomInt(256)}`
    const first = 4 * randomInt(64)
    const namespace = new NetworkNamespace(name, link, `${subnet}.${first + 1}`)
    ip('netns', 'add', name)
    try {
      ip('link', 'add', link, 'type', 'veth', 'peer', 'name', inside, 'netns', name)
      ip('address', 'add', `${namespace.gateway}/30`, 'dev', link)
      ip('-n', name, 'address', 'add', `${subnet}.${first + 2}/30`, 'dev', inside)
      ip('-n', name, 'link', 'set', 'lo', 'up')
      ip('-n', name, 'link', 'set', inside, 'up')
      namespace.mend()
    } catch (thrown) {
      namespace.remove()
      throw thrown
    }
    return namespace
  }

  /** A program with arguments that starts another program in the namespace. It does not fork, so signals reach both. */
  get launcher(): readonly [string, ...string[]] {
    return ['nsenter', `--net=/run/netns/${this.#name}`]
  }

  /** Loses every packet until {@link mend}. Connections stay open. */
  cut(): void {
    ip('link', 'set', this.#link, 'down')
  }

  mend(): void {
    ip('link', 'set', this.#link, 'up')
  }

  /** Removes the namespace and its link. Processes in it keep a namespace without a link. */
  remove(): void {
    ip('netns', 'delete', this.#name)
  }
}

function ip(...words: readonly string[]): void {
  execFileSync('ip', words, { stdio: ['ignore', 'ignore', 'pipe'] })
}
