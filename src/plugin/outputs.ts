/** What an entry point must return, beyond being JSON: the shape of its kind, and the schema that the manifest declares. */
import { type ChunkOutput, findContradiction, toAdapterSchema } from '#registry/adapters/plugin-adapter.ts'
import { isObject } from '#registry/content/json-pointer.ts'
import type { EntryPoint } from '#sandbox/model.ts'
import { type FactorManifest, getHosts, type PluginManifest } from './manifest.ts'
import { findValueFaults, type ValueFault, type ValueSchema } from './value-schema.ts'

/** What `factor` returns. */
export interface FactorOutput {
  readonly score_bps: number
  /** Capital letters, digits and `_`, as the reason codes of a matrix; null where the score needs none. */
  readonly reason_code: string | null
  readonly values?: Readonly<Record<string, unknown>>
}

/** What `adapter` returns. A reject names the row of the chunk by its index. */
export interface AdapterOutput {
  readonly entries: readonly { readonly row: number; readonly entry: Readonly<Record<string, unknown>> }[]
  readonly rejects?: readonly { readonly row: number; readonly reason: string }[]
  readonly state?: unknown
}

/** What `request` returns. The host sends it; `{credential.x}` in a header is replaced by the host. */
export interface RequestOutput {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly url: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** What `parse` gets. */
export interface ResponseInput {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** Parsed JSON, or the text of another media type. */
  readonly body: unknown
}

const REASON_CODE = /^[A-Z][A-Z0-9_]*$/
/** An escape of U+0000 that is not escaped itself. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u0000/
const MAX_STATE_LENGTH = 65_536
const textRecord: ValueSchema = { type: 'object', additionalProperties: { type: 'string', maxLength: 4000 } }

const toFactorSchema = ({ score_min_bps, score_max_bps, outputs }: FactorManifest): ValueSchema => ({
  type: 'object',
  required: ['score_bps', 'reason_code'],
  additionalProperties: false,
  properties: {
    score_bps: { type: 'integer', minimum: score_min_bps, maximum: score_max_bps },
    reason_code: { type: ['string', 'null'], maxLength: 60 },
    values: { type: 'object', ...outputs },
  },
})

const requestSchema: ValueSchema = {
  type: 'object',
  required: ['method', 'url'],
  additionalProperties: false,
  properties: {
    method: { enum: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] },
    url: { type: 'string', maxLength: 2000 },
    query: textRecord,
    headers: textRecord,
    body: {},
  },
}

function findFactorFaults(manifest: FactorManifest, output: unknown): ValueFault[] {
  const faults = findValueFaults(toFactorSchema(manifest), output)
  if (faults.length > 0) return faults
  if (UNSTORABLE.test(JSON.stringify(output))) return [{ pointer: '/values', message: 'must not hold U+0000' }]
  const { reason_code } = output as FactorOutput
  if (reason_code === null || REASON_CODE.test(reason_code)) return []
  return [{ pointer: '/reason_code', message: 'must have capital letters, digits and "_", and begin with a letter' }]
}

/** Where an output does not fit; empty when it can be used. */
export function findOutputFaults(manifest: PluginManifest, entry_point: EntryPoint, output: unknown): ValueFault[] {
  if (entry_point === 'factor') {
    return manifest.kind === 'factor' ? findFactorFaults(manifest, output) : []
  }
  if (entry_point === 'parse') return findValueFaults(manifest.outputs ?? {}, output)
  if (entry_point === 'request') {
    const faults = findValueFaults(requestSchema, output)
    return faults.length > 0 ? faults : findHostFaults(manifest, output as RequestOutput)
  }
  const faults = findValueFaults(toAdapterSchema(manifest.outputs), output)
  const contradiction = faults.length === 0 ? findContradiction(output as ChunkOutput) : undefined
  if (contradiction) return [contradiction]
  const state = isObject(output) ? JSON.stringify(output['state'] ?? null) : ''
  if (state.length <= MAX_STATE_LENGTH) return faults
  return [...faults, { pointer: '/state', message: `must have at most ${MAX_STATE_LENGTH / 1024} KiB as JSON` }]
}

function findHostFaults(manifest: PluginManifest, { url }: RequestOutput): ValueFault[] {
  const parsed = URL.canParse(url) ? new URL(url) : null
  if (parsed?.protocol !== 'https:') return [{ pointer: '/url', message: 'must be an https address' }]
  if (parsed.username !== '' || parsed.password !== '')
    return [{ pointer: '/url', message: 'must not hold credentials' }]
  if (getHosts(manifest).includes(parsed.hostname)) return []
  return [
    { pointer: '/url', message: `names the host ${parsed.hostname.slice(0, 100)}, which permissions.hosts does not` },
  ]
}
