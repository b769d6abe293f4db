/** Sample payloads of one made-up provider, drawn from fixed distributions, and mutations of them. */
import { createRandom } from './random.ts'

const COUNTRIES = ['GB', 'FR', 'DE', 'NL', 'ES'] as const
const STATUSES = ['active', 'dissolved', 'dormant'] as const

/** Numbers in [0, 1), the same for the same seed. */
export function createShares(seed: number): () => number {
  const next = createRandom(seed)
  return () => next(1_000_000_000) / 1_000_000_000
}

export interface SampleRecord extends Record<string, unknown> {
  id: string
  status: string
}

export function createSampleRecord(random: () => number): SampleRecord {
  const pick = <T>(values: readonly T[]): T => values[Math.floor(random() * values.length)] as T
  const digits = (count: number): string => Array.from({ length: count }, () => Math.floor(random() * 10)).join('')
  return {
    id: digits(8),
    company_name: `Company ${digits(4)} ${pick(['Ltd', 'GmbH', 'SA'])}`,
    status: pick(STATUSES),
    address: { country: pick(COUNTRIES), city: `City ${digits(2)}`, ...(random() < 0.7 && { postcode: digits(5) }) },
    founded: `20${digits(1)}${Math.floor(random() * 10)}-0${1 + Math.floor(random() * 9)}-1${Math.floor(random() * 10)}`,
    employees: Math.floor(random() * 500),
    turnover: Math.floor(random() * 1_000_000) / 100,
    listed: random() < 0.2,
    parent: random() < 0.1 ? null : digits(8),
    officers: Array.from({ length: 1 + Math.floor(random() * 3) }, () => ({
      name: `Person ${digits(3)}`,
      email: `p${digits(4)}@example.com`,
    })),
  }
}

export const createSamplePayloads = (seed: number, payloads: number, records: number) => {
  const random = createShares(seed)
  return Array.from({ length: payloads }, () => ({
    meta: { page: 1 },
    data: { companies: Array.from({ length: records }, () => createSampleRecord(random)) },
  }))
}
