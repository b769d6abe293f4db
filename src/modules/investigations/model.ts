/** Investigations as the code knows them: states, what belongs to a case, and its readable reference. */
import { randomInt } from 'node:crypto'
import type { Role } from '#kernel/auth/roles.ts'

export const INVESTIGATION = 'investigation'

export const investigationStates = ['open', 'proposed', 'closed', 'merged', 'ended'] as const
export type InvestigationState = (typeof investigationStates)[number]
export const gatheringStates = ['none', 'running', 'blocked', 'done', 'partial'] as const
export type GatheringState = (typeof gatheringStates)[number]
export const waitingReasons = ['information', 'authority', 'other'] as const
export type WaitingReason = (typeof waitingReasons)[number]
export const origins = ['request', 'alert', 'trigger', 'schedule'] as const
export type Origin = (typeof origins)[number]

export const stepStates = [
  'pending',
  'running',
  'waiting',
  'succeeded',
  'failed',
  'indeterminate',
  'skipped',
  'waived',
] as const
export type StepState = (typeof stepStates)[number]
/** A required step in one of these keeps nobody from proposing an outcome. */
export const settledStates: readonly StepState[] = ['succeeded', 'skipped', 'waived']

/** Why nobody did a step, or will. */
export const stepReasons = [
  'condition_not_met',
  'not_asked',
  'waived',
  'case_merged',
  'case_closed',
  'case_ended',
] as const
export type StepReasonCode = (typeof stepReasons)[number]

export const eventCategories = ['person', 'system', 'provider'] as const
export type EventCategory = (typeof eventCategories)[number]

/** Roles whose people work on cases. */
export const caseWorkers: readonly Role[] = ['analyst', 'compliance_officer']
/** Roles whose people read cases. */
export const caseReaders: readonly Role[] = [...caseWorkers, 'auditor']
export const toWorkItem = (investigation_id: string) => ({ object_kind: INVESTIGATION, object_id: investigation_id })

/** Without letters that are read as digits. */
const LETTERS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
const LENGTH = 8

/** Random: a counter would show how many cases somebody cannot see. */
export function createReference(): string {
  const letters = Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('')
  return `INV-${letters.slice(0, LENGTH / 2)}-${letters.slice(LENGTH / 2)}`
}
