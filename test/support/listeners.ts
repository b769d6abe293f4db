/** Listeners on the loopback addresses of this machine that count connections and answer none. */
import net, { type AddressInfo } from 'node:net'

export interface CountingListeners {
  readonly port: number
  readonly connections: string[]
  /** Whether this machine has IPv6. */
  readonly has_ipv6: boolean
  close(): Promise<void>
}

const MAX_TRIES = 20

/** One port on 127.0.0.1 and, where there is IPv6, on ::1. */
export async function startCountingListeners(): Promise<CountingListeners> {
  const connections: string[] = []
  for (let attempt = 1; ; attempt++) {
    const first = await listen(0, '127.0.0.1', connections)
    const { port } = first.address() as AddressInfo
    try {
      const second = await listen(port, '::1', connections)
      return { port, connections, has_ipv6: true, close: () => closeAll([first, second]) }
    } catch (error) {
      const isAbsent = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes((error as NodeJS.ErrnoException).code ?? '')
      if (isAbsent) return { port, connections, has_ipv6: false, close: () => closeAll([first]) }
      await closeAll([first])
      if (attempt === MAX_TRIES) throw error
    }
  }
}

function listen(port: number, host: string, connections: string[]): Promise<net.Server> {
  const server = net.createServer((socket) => {
    connections.push(host)
    socket.on('error', () => {}).destroy()
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, host, () => resolve(server))
  })
}

const closeAll = async (servers: readonly net.Server[]): Promise<void> => {
  await Promise.all(servers.map((server) => new Promise((resolve) => server.close(resolve))))
}
