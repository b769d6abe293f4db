/**
 * Makes a recorded request and its reply the same in every run: identifiers, times, hashes and secrets are replaced, lists and
 * texts are shortened. One instance per example, so that what was equal stays equal.
 */
import { createHash } from 'node:crypto'
import { SYSTEM_TENANT } from '#kernel/uuid.ts'

/** When the recorded examples happen. */
const BASE_MS = Date.parse('2026-03-02T09:30:00Z')
const HOUR_MS = 3_600_000
const MAX_OBJECTS = 2
const MAX_VALUES = 4
const MAX_TEXT = 300
/** More members than a declared object has: keys of a map, or of a JSON Schema inside the example. */
const MAX_MEMBERS = 40
const KEPT_MEMBERS = 3

const uuidText = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}'
const uuids = new RegExp(uuidText, 'g')
const emails = new RegExp(`${uuidText}@example\\.com`, 'g')
const trailingUuid = new RegExp(` (?:${uuidText}|[0-9a-f]{12})$`)
/** References of investigations are drawn by chance. */
const references = /\bINV-[0-9A-Z]{4}-[0-9A-Z]{4}\b/g
/** Of a secret, shortened for people. */
const fingerprints = /^[0-9a-f]{8}$/
/** Fixtures end the keys of what they create in part of an identifier. */
const createdKeys = /\b([a-z][a-z0-9-]*)-[0-9a-f]{12}\b/g
const instants = /\b(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2})\.(\d+)Z/g
const hashes = /\b(?:[0-9a-f]{64}|[0-9a-f]{32})\b/g
const webTokens = /\beyJ[\w-]+\.[\w-]+\.[\w-]+/g
const apiKeys = /\bpk_[\w.-]{12,}/g
const opaqueText = /^(?=.*[a-z])(?=.*[A-Z])(?=.*\d)[\w+/=-]{40,}$/
const tenantNames = /\bTenant t-[0-9a-f]{12}\b/g
const tenantSlugs = /\bt-[0-9a-f]{12}\b/g

/** Measured values, by member name. */
const measured: Readonly<Record<string, unknown>> = {
  latency_ms: 1,
  duration_ms: 12,
  uptime_s: 3600,
  node: 'v22.13.0',
  port: 8000,
  next_cursor: 'MDE5MGQ3YTAtNWIxYw',
  median_hours_to_close: 30.5,
  slow_hours_to_close: 72.25,
  // Events that no worker had sealed yet.
  unsealed: 52,
  salt: 'MDE5MGQ3YTAtNWIxYy03ZQ',
  // Rounded to a minute, so that it looks like a given instant.
  override_expires_before: '2026-03-16T09:30:00Z',
}

/** A fixture of a second look takes the sample that chance made, if it made one. */
const SAMPLE = { code: 'all', version: 1, seed: 'quality-1', rate_bps: 10_000, bucket: 17 }

/** An export holds its own times, whose fractions differ in length. */
const EXPORT_BYTES = 600
const tokenTimes = new Set(['issued_at', 'expires_at'])

const digest = (text: string): string => createHash('sha256').update(text).digest('hex')

export class ExampleNormaliser {
  readonly #replaced = new Map<string, string>()
  readonly #counts = new Map<string, number>()
  readonly #now_ms = Date.now()
  readonly #today = new RegExp(`^${new Date().toISOString().slice(0, 10)}$`)

  normalise(value: unknown, member = 'id'): unknown {
    if (typeof value === 'string') return this.#normaliseText(value, member)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((item) => this.normalise(item, member))
    if ('bucket' in value && 'rate_bps' in value) return SAMPLE
    const members = Object.entries(value)
    // Tokens hold whole seconds, although their times are measured.
    const isToken = 'issued_at' in value
    const isExport = 'valid_at' in value && 'known_at' in value
    return Object.fromEntries(
      members.map(([name, part]) => [
        this.#normaliseText(name, name),
        isToken && tokenTimes.has(name) && typeof part === 'string'
          ? this.#shiftInstant(part)
          : this.#member(name, part, isExport),
      ]),
    )
  }

  #member(name: string, value: unknown, isExport: boolean): unknown {
    const fixed = isExport && name === 'size_bytes' ? EXPORT_BYTES : measured[name]
    return fixed !== undefined && typeof fixed === typeof value ? fixed : this.normalise(value, name)
  }

  #normaliseText(text: string, member: string): string {
    if (member === 'fingerprint' && fingerprints.test(text)) return digest(member).slice(0, 8)
    const changed = text
      .replace('Test Person', 'Ada Lovelace')
      .replace(tenantNames, 'Example Bank')
      .replace(tenantSlugs, 'example-bank')
      .replace(this.#today, '2026-03-02')
      .replace(emails, 'ada.lovelace@example.com')
      .replace(trailingUuid, '')
      .replace(webTokens, 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJ1c2VyIn0.c2lnbmF0dXJl')
      .replace(apiKeys, 'pk_example_replace_with_the_key_you_were_shown')
      .replace(instants, (instant, second: string, fraction: string) =>
        // Whole seconds were given, others were measured.
        Number(fraction) === 0 ? `${second}Z` : this.#shiftInstant(instant),
      )
      .replace(hashes, (hash) => this.#replace(hash, `hash ${member}`, (seed) => digest(seed).slice(0, hash.length)))
      .replace(uuids, (id) => (id === SYSTEM_TENANT ? id : this.#replace(id, member, toUuid)))
      .replace(references, (reference) => this.#replace(reference, 'reference', toReference))
      .replace(createdKeys, (key, base: string) => this.#replace(key, base, (_, count) => nameCopy(base, count)))
    return opaqueText.test(changed) ? digest(member).slice(0, 43) : changed
  }

  /** The n-th value of a member is the same in all examples. */
  #replace(value: string, kind: string, make: (seed: string, count: number) => string): string {
    const known = this.#replaced.get(value)
    if (known !== undefined) return known
    const count = (this.#counts.get(kind) ?? 0) + 1
    this.#counts.set(kind, count)
    const made = make(`${kind} ${count}`, count)
    this.#replaced.set(value, made)
    return made
  }

  /** Times of the run become one instant; others keep their distance to it, in hours. */
  #shiftInstant(instant: string): string {
    const hours = Math.round((Date.parse(instant) - this.#now_ms) / HOUR_MS)
    return new Date(BASE_MS + hours * HOUR_MS).toISOString().replace('.000Z', 'Z')
  }
}

/** What a reader needs to see of a long reply. */
export function shortenExample(value: unknown): unknown {
  if (typeof value === 'string') return value.length > MAX_TEXT ? `${value.slice(0, MAX_TEXT)}…` : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    const most = value.some((item) => typeof item === 'object') ? MAX_OBJECTS : MAX_VALUES
    return value.slice(0, most).map(shortenExample)
  }
  const shorten = (name: string, part: unknown): unknown =>
    shortenExample(cutMembers(part, name === 'properties' ? KEPT_MEMBERS : MAX_MEMBERS))
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, shorten(name, part)]))
}

function cutMembers(value: unknown, most: number): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const members = Object.entries(value)
  return members.length > most ? Object.fromEntries(members.slice(0, KEPT_MEMBERS)) : value
}

const nameCopy = (base: string, count: number): string => (count === 1 ? base : `${base}-${count}`)

function toUuid(seed: string): string {
  const hex = digest(seed)
  return `0190d7a0-5b1c-7${hex.slice(0, 3)}-9${hex.slice(3, 6)}-${hex.slice(6, 18)}`
}

function toReference(seed: string): string {
  const hex = digest(seed).toUpperCase()
  return `INV-${hex.slice(0, 4)}-${hex.slice(4, 8)}`
}
