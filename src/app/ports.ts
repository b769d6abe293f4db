/** Checks whether a port is free before anything is started for it, and says in one sentence why not. */
import dns from 'node:dns/promises'
import { createServer, isIPv6 } from 'node:net'

export interface PortSettings {
  readonly port: number
  readonly host: string
  /** The setting that selects another port, for the message. */
  readonly setting: 'PORT' | 'PROBITY_METRICS_PORT'
}

/** Without IPv6, "localhost" may still name an address that does not exist. */
const absentCodes = new Set(['EADDRNOTAVAIL', 'EAFNOSUPPORT'])

export async function assertPortFree(settings: PortSettings): Promise<void> {
  const fault = await findPortFault(settings)
  if (fault) throw new Error(fault)
}

export async function findPortFault(settings: PortSettings): Promise<string | null> {
  const { port, host } = settings
  if (port === 0) return null
  const hostSetting = settings.setting === 'PORT' ? 'HOST' : 'PROBITY_METRICS_HOST'
  const addresses = await dns.lookup(host, { all: true }).catch(() => [])
  if (addresses.length === 0) return `${hostSetting}=${host} is not a name or address this machine knows.`
  const failures = (await Promise.all(addresses.map(({ address }) => tryListen(port, address)))).filter(
    (error) => error !== null,
  )
  const [first] = failures.filter(({ code }) => !absentCodes.has(code ?? ''))
  if (first) return portErrorMessage(first, settings, await detectListener(settings))
  if (failures.length < addresses.length) return null
  return `${hostSetting}=${host} is not an address of this machine.`
}

/** The same message for a port that was taken between the check and the start. */
export function portErrorMessage(
  error: NodeJS.ErrnoException,
  settings: PortSettings,
  holder?: 'probity' | null,
): string {
  const { port, setting } = settings
  const other = `choose another port, for example ${setting}=${port + 1 > 65535 ? 8001 : port + 1}`
  if (error.code === 'EACCES') return `Port ${port} needs more rights than this user has: ${other}.`
  if (error.code !== 'EADDRINUSE') return `Port ${port} cannot be used (${error.message}): ${other}.`
  if (holder === 'probity') return `Probity is already running on port ${port}: stop it first, or ${other}.`
  return `Port ${port} is already in use by another program: stop it first, or ${other}.`
}

/** Only Probity answers its health check this way. */
export async function detectListener({ port, host, setting }: PortSettings): Promise<'probity' | null> {
  if (setting !== 'PORT') return null
  const reachable = host === '0.0.0.0' || host === '::' ? 'localhost' : host
  const at = isIPv6(reachable) ? `[${reachable}]` : reachable
  try {
    const reply = await fetch(`http://${at}:${port}/api/health`, { signal: AbortSignal.timeout(1000) })
    const body = (await reply.json()) as { status?: unknown; uptime_s?: unknown }
    return body.status === 'ok' && typeof body.uptime_s === 'number' ? 'probity' : null
  } catch {
    return null
  }
}

function tryListen(port: number, address: string): Promise<NodeJS.ErrnoException | null> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', resolve)
    probe.listen({ port, host: address, exclusive: true }, () => probe.close(() => resolve(null)))
  })
}
