/** A provider on this machine that answers well or in one of the ways in which providers fail, by the path of the request. */
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import zlib from 'node:zlib'
import type { Certificate } from './certificates.ts'

export type Handler = (request: IncomingMessage, response: ServerResponse, body: Buffer) => void

const MIB = 1024 * 1024

const json = (response: ServerResponse, body: unknown, headers: Record<string, string> = {}) =>
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))

const writeRaw = (response: ServerResponse, text: string | Buffer) => (response.socket as Socket).write(text)

const repeat = (response: ServerResponse, write: () => boolean) => {
  const more = () => {
    while (!response.destroyed && write());
    response.once('drain', more)
  }
  more()
}

let bombs: { readonly gzip: Buffer; readonly brotli: Buffer } | undefined

/** 32 MiB of zeros, compressed once. */
function getBombs() {
  const zeros = Buffer.alloc(32 * MIB)
  const params = { [zlib.constants.BROTLI_PARAM_QUALITY]: 5 }
  bombs ??= { gzip: zlib.gzipSync(zeros, { level: 1 }), brotli: zlib.brotliCompressSync(zeros, { params }) }
  return bombs
}

export const faultyAnswers: Readonly<Record<string, Handler>> = {
  '/ok': (request, response, body) =>
    json(response, { method: request.method, url: request.url, body: body.toString('utf8') }),
  '/headers': (request, response) => json(response, request.headers, { 'set-cookie': 'session=1', 'x-served': 'yes' }),
  '/gzip': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync('compressed')),
  '/brotli': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'br' }).end(zlib.brotliCompressSync('compressed')),
  '/deflate': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'deflate' }).end(zlib.deflateSync('compressed')),
  '/raw-deflate': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'deflate' }).end(zlib.deflateRawSync('compressed')),
  '/empty-gzip': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(),
  '/informational': (_request, response) => {
    response.writeProcessing()
    json(response, { ok: true })
  },
  '/hang-before-headers': () => {},
  '/hang-after-headers': (_request, response) => response.writeHead(200).write('{'),
  '/one-byte-at-a-time': (_request, response) => {
    response.writeHead(200)
    const timer = setInterval(() => response.write(' '), 10)
    response.once('close', () => clearInterval(timer))
  },
  '/reset-before-headers': (_request, response) => response.socket?.destroy(),
  '/reset-mid-body': (_request, response) => {
    response.writeHead(200, { 'content-length': '100' }).write('half', () => response.socket?.destroy())
  },
  '/endless': (_request, response) => {
    response.writeHead(200)
    repeat(response, () => response.write(Buffer.alloc(65_536, 32)))
  },
  '/ten-gigabytes': (_request, response) => response.writeHead(200, { 'content-length': '10000000000' }).write(' '),
  '/gzip-bomb': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end(getBombs().gzip),
  '/brotli-bomb': (_request, response) => response.writeHead(200, { 'content-encoding': 'br' }).end(getBombs().brotli),
  '/truncated-gzip': (_request, response) =>
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(zlib.gzipSync('compressed').subarray(0, 12)),
  '/broken-gzip': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip' }).end('not gzip'),
  '/unknown-encoding': (_request, response) => response.writeHead(200, { 'content-encoding': 'zstd' }).end('x'),
  '/two-encodings': (_request, response) => response.writeHead(200, { 'content-encoding': 'gzip, gzip' }).end('x'),
  '/longer-than-declared': (_request, response) =>
    writeRaw(response, 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nfour and more'),
  '/shorter-than-declared': (_request, response) => {
    writeRaw(response, 'HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nfew')
    response.socket?.end()
  },
  '/endless-headers': (_request, response) => {
    writeRaw(response, 'HTTP/1.1 200 OK\r\n')
    for (let n = 0; n < 1000; n++) writeRaw(response, `x-${n}: ${'a'.repeat(100)}\r\n`)
  },
  '/not-http': (_request, response) => writeRaw(response, 'SSH-2.0-OpenSSH_9.6\r\n'),
  '/bad-chunk': (_request, response) =>
    writeRaw(response, 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nzz\r\nx\r\n'),
  '/redirect': (_request, response) =>
    response.writeHead(302, { location: 'http://169.254.169.254/latest/meta-data/' }).end(),
  '/html': (_request, response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<html></html>'),
  '/not-found': (_request, response) => response.writeHead(404).end('{}'),
  '/too-many': (_request, response) => response.writeHead(429, { 'retry-after': '1000000000' }).end('{}'),
  '/close': (_request, response) => response.writeHead(200, { connection: 'close' }).end('{}'),
}

export interface FaultyProvider {
  readonly port: number
  readonly requests: string[]
  /** One for each connection whose TLS handshake, if any, was complete. */
  readonly sockets: Set<Socket>
  close(): Promise<void>
}

export interface ProviderOptions {
  /** Plain HTTP without one. */
  readonly certificate?: Certificate
  /** Clients need a certificate that this authority has signed. */
  readonly client_ca?: string
  readonly max_tls?: 'TLSv1.1' | 'TLSv1.2'
  readonly host?: string
  readonly answers?: Readonly<Record<string, Handler>>
}

export async function startFaultyProvider(options: ProviderOptions = {}): Promise<FaultyProvider> {
  const requests: string[] = []
  const sockets = new Set<Socket>()
  const answers = { ...faultyAnswers, ...options.answers }
  const onRequest = (request: IncomingMessage, response: ServerResponse) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const [path = ''] = (request.url ?? '').split('?')
      requests.push(`${request.method} ${request.url}`)
      const answer = answers[path]
      if (answer) answer(request, response, Buffer.concat(chunks))
      else response.writeHead(404).end()
    })
  }
  const server = createServer(options, onRequest)
  server.on(options.certificate ? 'secureConnection' : 'connection', (socket: Socket | TLSSocket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, options.host ?? '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    requests,
    sockets,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
}

function createServer({ certificate, client_ca, max_tls }: ProviderOptions, onRequest: http.RequestListener) {
  if (!certificate) return http.createServer(onRequest)
  const server = https.createServer(
    {
      cert: certificate.cert,
      key: certificate.key,
      ...(client_ca !== undefined && { ca: client_ca, requestCert: true, rejectUnauthorized: true }),
      ...(max_tls && { minVersion: 'TLSv1' as const, maxVersion: max_tls, ciphers: 'DEFAULT@SECLEVEL=0' }),
    },
    onRequest,
  )
  return server.on('tlsClientError', () => {})
}
