/**
 * Opens a connection to a checked address. Names are resolved here and the connection is made to the address that was checked, so
 * that a second answer of the name server cannot lead elsewhere; an address in the URL passes the same check.
 */
import net from 'node:net'
import tls from 'node:tls'
import { isSameAddress } from './addresses.ts'
import { EgressFailed, type EgressFault, refuse } from './faults.ts'
import { openTunnel } from './proxy-tunnel.ts'
import type { ResolveName } from './resolve.ts'
import type { EgressSettings } from './settings.ts'
import { checkAddresses, type Target } from './targets.ts'

export interface ClientCertificate {
  readonly cert: string
  readonly key: string
}

export interface ConnectionOptions {
  readonly target: Target
  readonly settings: EgressSettings
  readonly resolve: ResolveName
  readonly connect_ms: number
  readonly client_certificate?: ClientCertificate
}

const MAX_ADDRESSES = 4
/** How long one address is waited for before the next is tried beside it. */
const STAGGER_MS = 250
const KEEP_ALIVE_PROBE_MS = 60_000

export async function openConnection(options: ConnectionOptions): Promise<net.Socket> {
  const { target, connect_ms } = options
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), connect_ms)
  try {
    const socket = target.uses_proxy
      ? await connectThroughProxy(options, stop.signal)
      : await connect(options, stop.signal)
    if (!target.secure) return socket
    return await startTls(socket, getTlsOptions(options), stop.signal)
  } catch (error) {
    throw stop.signal.aborted ? fail('connect_timeout') : error
  } finally {
    clearTimeout(timer)
  }
}

async function connect({ target, settings, resolve }: ConnectionOptions, signal: AbortSignal): Promise<net.Socket> {
  const { host, is_address, port } = target
  const addresses = is_address ? [host] : await resolveOrFail(() => resolve(host, target.rule), signal)
  checkAddresses(target, addresses, settings)
  const selected = selectAddresses(addresses)
  const socket = await connectFirst(selected, port, signal)
  const { remoteAddress = '' } = socket
  if (!selected.some((address) => isSameAddress(address, remoteAddress))) {
    socket.destroy()
    refuse('remote_address_differs')
  }
  return socket
}

/** The proxy resolves the name: the host list, which is mandatory with a proxy, takes the place of the address check. */
async function connectThroughProxy(options: ConnectionOptions, signal: AbortSignal): Promise<net.Socket> {
  const { target, settings, resolve } = options
  const proxy = settings.proxy ?? refuse('request')
  if (target.is_address) checkAddresses(target, [target.host], settings)
  try {
    const addresses = net.isIP(proxy.host)
      ? [proxy.host]
      : await resolveOrFail(() => resolve(proxy.host, 'any'), signal)
    const plain = await connectFirst(selectAddresses(addresses), proxy.port, signal)
    const socket = proxy.secure ? await startTls(plain, getServerOptions(proxy.host), signal) : plain
    return await openTunnel(socket, {
      host: target.host,
      port: target.port,
      authorization: proxy.authorization,
      signal,
    })
  } catch {
    throw fail('proxy_failed')
  }
}

/** Resolving cannot be interrupted: the wait for it can. */
async function resolveOrFail(
  resolve: () => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const found = await withSignal(
    resolve().catch(() => []),
    signal,
  )
  if (found.length === 0) throw fail('dns_failed')
  return found
}

function withSignal<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(fail('connect_timeout'))
    signal.addEventListener('abort', onAbort, { once: true })
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

/** The first few, families in turn, so that a network without IPv6 does not use up all attempts. */
function selectAddresses(addresses: readonly string[]): readonly string[] {
  const [first] = addresses
  const isFirstFamily = (address: string) => net.isIPv6(address) === net.isIPv6(first ?? '')
  const same = addresses.filter(isFirstFamily)
  const other = addresses.filter((address) => !isFirstFamily(address))
  const inTurn = same.flatMap((address, index) => [address, ...other.slice(index, index + 1)])
  return [...new Set([...inTurn, ...other.slice(same.length)])].slice(0, MAX_ADDRESSES)
}

/** Tries the addresses one after the other, each a moment after the one before; the first that connects is used. */
function connectFirst(addresses: readonly string[], port: number, signal: AbortSignal): Promise<net.Socket> {
  return new Promise((resolve, reject) => {
    const attempts = new Set<net.Socket>()
    const waiting = [...addresses]
    let timer: NodeJS.Timeout | undefined
    const finish = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
      for (const attempt of attempts) attempt.destroy()
    }
    const onAbort = () => {
      finish()
      reject(fail('connect_timeout'))
    }
    const tryNext = () => {
      clearTimeout(timer)
      const host = waiting.shift()
      if (host === undefined) return
      const socket = net.connect({
        host,
        port,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_PROBE_MS,
      })
      attempts.add(socket)
      socket.once('connect', () => {
        attempts.delete(socket)
        finish()
        socket.removeAllListeners('error')
        resolve(socket)
      })
      socket.once('error', () => {
        attempts.delete(socket)
        if (waiting.length > 0) return tryNext()
        if (attempts.size > 0) return
        finish()
        reject(fail('connect_failed'))
      })
      timer = setTimeout(tryNext, STAGGER_MS)
    }
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
    tryNext()
  })
}

/** An address has no server name; its certificate must name the address. */
const getServerOptions = (host: string): tls.ConnectionOptions => ({
  host,
  ...(net.isIP(host) === 0 && { servername: host }),
})

const getTlsOptions = ({ target, client_certificate }: ConnectionOptions): tls.ConnectionOptions => ({
  ...getServerOptions(target.host),
  ...(target.ca !== null && { ca: target.ca }),
  ...client_certificate,
})

async function startTls(
  plain: net.Socket,
  options: tls.ConnectionOptions,
  signal: AbortSignal,
): Promise<tls.TLSSocket> {
  const secure = createTlsSocket(plain, options)
  return new Promise((resolve, reject) => {
    const end = (fault: EgressFault) => {
      signal.removeEventListener('abort', onAbort)
      secure.destroy()
      plain.destroy()
      reject(fail(fault))
    }
    const onAbort = () => end('connect_timeout')
    const onError = ({ code = '' }: NodeJS.ErrnoException) =>
      end(connectionErrors.has(code) ? 'connect_failed' : 'tls_invalid')
    secure.on('error', onError)
    secure.once('secureConnect', () => {
      signal.removeEventListener('abort', onAbort)
      secure.removeListener('error', onError)
      resolve(secure)
    })
    if (signal.aborted) return onAbort()
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

const connectionErrors = new Set(['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENETUNREACH', 'EHOSTUNREACH'])

function createTlsSocket(socket: net.Socket, options: tls.ConnectionOptions): tls.TLSSocket {
  try {
    // Settings of the process, such as NODE_TLS_REJECT_UNAUTHORIZED, change none of these.
    return tls.connect({
      ...options,
      socket,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: true,
      ALPNProtocols: ['http/1.1'],
    })
  } catch {
    // A client certificate that cannot be read is reported like one that the host rejects.
    socket.destroy()
    throw fail('tls_invalid')
  }
}

const fail = (fault: EgressFault): EgressFailed => new EgressFailed(fault, { sent: false })
