/** Alerts as the code knows them: priorities, states, facts with their fingerprint, and what changed between two sets of facts. */
import { createHash, randomBytes } from 'node:crypto'
import { canonicalJson } from '#kernel/canonical-json.ts'

/** Lowest first. */
export const priorities = ['low', 'medium', 'high', 'critical'] as const
export type Priority = (typeof priorities)[number]

/** Under which the service itself reports; a report from outside is refused under them. */
export const reservedSources: readonly string[] = ['rule', 'matrix', 'contract']

/** Who works on alerts. */
export const alertWorkers = ['analyst', 'compliance_officer'] as const

/** A new alert that somebody works on is claimed. */
export const alertStates = ['new', 'claimed', 'snoozed', 'dismissed', 'escalated'] as const
export type AlertState = (typeof alertStates)[number]
export const openStates: readonly AlertState[] = ['new', 'claimed', 'snoozed']
export const isOpen = ({ state }: { readonly state: AlertState }): boolean => openStates.includes(state)

export const maxPriority = (one: Priority, other: Priority): Priority =>
  priorities.indexOf(one) >= priorities.indexOf(other) ? one : other

export const isHigher = (one: Priority, other: Priority): boolean => priorities.indexOf(one) > priorities.indexOf(other)

/** What makes one match differ from another, by name. */
export type Facts = Readonly<Record<string, string>>

export interface FactChange {
  readonly name: string
  /** Null: the fact was not there. */
  readonly before: string | null
  readonly after: string | null
}

/** Why an alert was raised, for people: one sentence, values side by side, and what it refers to. */
export interface Explanation {
  readonly sentence: string
  readonly fields: readonly {
    readonly name: string
    readonly subject_value: string | null
    readonly matched_value: string | null
    /** Null: not compared. */
    readonly agrees: boolean | null
  }[]
  readonly references: readonly { readonly kind: string; readonly id: string; readonly version: number | null }[]
}

export const createFingerprintSalt = (): string => randomBytes(16).toString('hex')

/** Salted: without the salt, which is erased with the facts, nobody can try out facts. */
export const computeFingerprint = (salt: string, facts: Facts): string =>
  createHash('sha256').update(salt).update(canonicalJson(facts)).digest('hex')

/** Sorted by name; empty when the facts are the same. */
export function diffFacts(before: Facts, after: Facts): FactChange[] {
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .filter((name) => before[name] !== after[name])
    .sort()
    .map((name) => ({ name, before: before[name] ?? null, after: after[name] ?? null }))
}
