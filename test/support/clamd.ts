/** A malware scanner that speaks the protocol of clamd on a TCP port: it finds a word in the bytes, or fails in one of several ways. */
import net from 'node:net'

/** What the scanner calls infected. */
export const INFECTED = 'HARMLESS-TEST-SIGNATURE'

export interface Clamd {
  readonly port: number
  /** How it answers from now on: as a scanner, with an error, by closing the connection, or not at all. */
  mode: 'scan' | 'error' | 'close' | 'silent'
  /** Bytes of each stream that ended. */
  readonly scanned: number[]
  close(): Promise<void>
}

const COMMAND = Buffer.from('zINSTREAM\0')

/** The bytes of a complete stream, or undefined while some are missing. */
function readStream(received: Buffer): Buffer | undefined {
  if (!received.subarray(0, COMMAND.length).equals(COMMAND)) return undefined
  const parts: Buffer[] = []
  for (let at = COMMAND.length; at + 4 <= received.length; ) {
    const length = received.readUInt32BE(at)
    if (length === 0) return Buffer.concat(parts)
    parts.push(received.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return undefined
}

export async function startClamd(): Promise<Clamd> {
  const sockets = new Set<net.Socket>()
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    const parts: Buffer[] = []
    socket.on('data', (part) => {
      if (clamd.mode === 'close') return socket.destroy()
      if (clamd.mode === 'error') return socket.end('INSTREAM size limit exceeded. ERROR\0')
      parts.push(part)
      const bytes = readStream(Buffer.concat(parts))
      if (bytes === undefined || clamd.mode === 'silent') return
      clamd.scanned.push(bytes.length)
      socket.end(bytes.includes(INFECTED) ? 'stream: Test.Signature FOUND\0' : 'stream: OK\0')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const clamd: Clamd = {
    port: (server.address() as net.AddressInfo).port,
    mode: 'scan',
    scanned: [],
    close: async () => {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return clamd
}
