/** A tiny load balancer as a client library: takes turns among the replicas that say they are ready, and repeats nothing. */
import { setTimeout as sleep } from 'node:timers/promises'
import { KeepAliveClient, type WireReply, type WireRequest } from '#test/support/keep-alive-client.ts'

const PROBE_INTERVAL_MS = 200

interface Replica {
  readonly base: string
  readonly client: KeepAliveClient
  ready: boolean
}

export class LoadBalancer {
  readonly #replicas: readonly Replica[]
  readonly #probing: Promise<unknown>
  #closed = false
  #next = 0

  constructor(bases: readonly string[], connections: number) {
    this.#replicas = bases.map((base) => ({ base, client: new KeepAliveClient(base, connections), ready: false }))
    this.#probing = Promise.all(this.#replicas.map((replica) => this.#probe(replica)))
  }

  isReady(base: string): boolean {
    return this.#replicas.some((replica) => replica.base === base && replica.ready)
  }

  /** Null when no replica is ready. */
  async send(request: WireRequest): Promise<WireReply | null> {
    const ready = this.#replicas.filter((replica) => replica.ready)
    const chosen = ready[this.#next++ % Math.max(1, ready.length)]
    return chosen ? chosen.client.send(request) : null
  }

  async close(): Promise<void> {
    this.#closed = true
    await this.#probing
    for (const { client } of this.#replicas) client.close()
  }

  async #probe(replica: Replica): Promise<void> {
    while (!this.#closed) {
      const reply = await fetch(`${replica.base}/health/ready`, { signal: AbortSignal.timeout(3000) }).catch(() => null)
      await reply?.arrayBuffer().catch(() => {})
      replica.ready = reply?.status === 200
      await sleep(PROBE_INTERVAL_MS)
    }
  }
}
