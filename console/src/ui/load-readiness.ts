/** Readiness of the server, which is an answer also when the server is not ready. */
import { probe } from '#console/session/client.ts'

export interface ReadinessCheck {
  readonly status: string
  readonly [detail: string]: unknown
}
interface Readiness {
  readonly status: string
  readonly checks: Readonly<Record<string, ReadinessCheck>>
}

export async function loadReadiness(signal: AbortSignal): Promise<Readiness> {
  const { data, error } = await probe.raw.GET('/api/health/ready', { signal })
  const body = (data ?? error ?? {}) as Partial<Readiness>
  // A server that is shutting down returns a problem without checks.
  const status = typeof body.status === 'string' ? body.status : 'not_ready'
  return { status, checks: body.checks ?? {} }
}
