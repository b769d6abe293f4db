/**
 * The content of a playbook: what an investigation gathers, by when, and how it may end. A published version has passed
 * `validatePlaybook`, so whoever loads one may rely on these types.
 */
import type { Input } from '#decision/model.ts'
import type { Role } from '#kernel/auth/roles.ts'
import { closed, integer, listOf, oneOf, Slug, type Static, Type, text, titleText } from '#kernel/schema.ts'

export const PLAYBOOK_FAMILY = 'playbook'
export const REASON_CODE_LIST = 'reason-codes'
export const CALENDAR_LIST = 'business-calendars'
export const CURRENCY_LIST = 'currencies'
/** Area of the reason codes that end an investigation. */
export const INVESTIGATION_AREA = 'investigation'

export const MAX_STEPS = 50
const MAX_CLOCKS = 10
const MAX_OUTCOMES = 20
const MAX_FACTS = 50
const MAX_REUSE_DAYS = 3650

export const subjectTypes = ['person', 'company', 'other'] as const
/** Who may be given a task. */
export const taskRoles = ['analyst', 'compliance_officer'] as const satisfies readonly Role[]

const Key = Slug({ description: 'Unique in its list.' })
const FactName = Type.String({ pattern: '^[A-Za-z][A-Za-z0-9_]{0,99}$' })
const ReasonCode = Type.String({ pattern: '^[A-Z][A-Z0-9_]*$', maxLength: 60 })
export const Money = closed({
  amount: Type.String({ pattern: '^[0-9]{1,9}(\\.[0-9]{1,2})?$', description: 'As text, with at most two decimals.' }),
  currency: Type.String({ pattern: '^[A-Z]{3}$' }),
})

/** A unary test of decision tables for each tested fact; all hold. */
const Condition = Type.Record(FactName, text(2000), { minProperties: 1, maxProperties: 20 })

/** Either hours or days. Without a calendar, business days are counted by the calendar that the tenant has chosen. */
const Clock = closed({
  key: Key,
  title: Type.Optional(titleText(200)),
  hours: Type.Optional(integer(1, 8760)),
  days: Type.Optional(integer(1, 3650)),
  day_kind: Type.Optional(oneOf(['business', 'calendar'])),
  calendar: Type.Optional(Slug()),
})

/** Members that steps of every kind have. */
const Step = closed({
  key: Key,
  kind: Slug(),
  title: Type.Optional(titleText(200)),
  with: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  needs: Type.Optional(listOf(Slug(), MAX_STEPS)),
  required: Type.Optional(Type.Boolean()),
  when: Type.Optional(Condition),
  reuse_days: Type.Optional(integer(1, MAX_REUSE_DAYS)),
  max_cost: Type.Optional(Money),
})

const Outcome = closed({
  code: ReasonCode,
  needs: Type.Optional(listOf(Slug(), MAX_STEPS)),
  when: Type.Optional(Condition),
})

/** With outcomes in their long form. `facts` is checked by the decision engine, which owns the form of inputs. */
export const PlaybookText = closed({
  title: titleText(200),
  description: Type.Optional(text(2000)),
  subject_types: listOf(oneOf(subjectTypes), subjectTypes.length, { minItems: 1, uniqueItems: true }),
  typologies: Type.Optional(listOf(Slug(), 50, { uniqueItems: true })),
  facts: Type.Optional(listOf(Type.Record(Type.String(), Type.Unknown()), MAX_FACTS)),
  clocks: Type.Optional(listOf(Clock, MAX_CLOCKS)),
  steps: listOf(Step, MAX_STEPS, { minItems: 1 }),
  outcomes: listOf(Outcome, MAX_OUTCOMES, { minItems: 1 }),
})

export type SubjectType = (typeof subjectTypes)[number]
export type Money = Static<typeof Money>
export type PlaybookClock = { readonly key: string; readonly title?: string } & (
  | { readonly hours: number }
  | { readonly days: number; readonly day_kind: 'business' | 'calendar'; readonly calendar?: string }
)
export type PlaybookCondition = Readonly<Record<string, string>>

/** Where a member of a provider's input comes from. */
export const InputSource = Type.Union(
  [
    closed({ fact: FactName }),
    closed({ value: Type.Union([Type.String({ maxLength: 1000 }), Type.Number(), Type.Boolean()]) }),
  ],
  {
    description:
      'Either {"fact": "the name of a fact"} or {"value": a text of at most 1000 characters, a number, true or false}',
  },
)
export type InputSource = Static<typeof InputSource>

export const ProviderSettings = closed({
  capability: Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$' }),
  provider: Type.Optional(
    Slug({
      description: 'Which provider is asked. Absent: the first that is ready, by key, of those with the capability.',
    }),
  ),
  input: Type.Optional(
    Type.Record(Type.String({ maxLength: 100 }), InputSource, {
      maxProperties: 50,
      description:
        'Of each member of the input, where it comes from. A member that is not named takes the fact of its name.',
    }),
  ),
})
export type ProviderSettings = Static<typeof ProviderSettings>

/** Either a matrix or a rule. The inputs of the decision are the attributes of the subject. */
export const EvaluationSettings = closed({ matrix: Type.Optional(Slug()), rule: Type.Optional(Slug()) })
export type EvaluationSettings = { readonly matrix: string } | { readonly rule: string }

export const TaskSettings = closed({
  title: titleText(200),
  role: oneOf(taskRoles),
  instructions: Type.Optional(text(2000)),
  checklist: Type.Optional(listOf(titleText(300), 30, { description: 'What the person confirms, item by item.' })),
})
export type TaskSettings = Static<typeof TaskSettings>

interface StepMembers {
  readonly key: string
  readonly title: string | null
  /** Steps that are settled before this one begins: done, waived, or left out because their `when` does not hold. */
  readonly needs: readonly string[]
  /** An investigation cannot be closed while a required step that applies is neither done nor waived. */
  readonly required: boolean
  /** Null: it always applies. */
  readonly when: PlaybookCondition | null
  /** An answer about the same subject that is not older is used again; null: it is always asked again. */
  readonly reuse_days: number | null
  readonly max_cost: Money | null
}
export interface ProviderStep extends StepMembers {
  readonly kind: 'provider'
  readonly with: ProviderSettings
}
export interface EvaluationStep extends StepMembers {
  readonly kind: 'evaluation'
  readonly with: EvaluationSettings
}
export interface TaskStep extends StepMembers {
  readonly kind: 'task'
  readonly with: TaskSettings
}
/**
 * Discriminated by `kind`. A module that declares a further kind in `Module.step_kinds` reads `with` by its own type: `kind` of its
 * steps is none of these three.
 */
export type PlaybookStep = ProviderStep | EvaluationStep | TaskStep

export interface PlaybookOutcome {
  /** A reason code of the area `investigation`. */
  readonly code: string
  /** Steps that must be done, not left out or waived, before the investigation can end so. */
  readonly needs: readonly string[]
  readonly when: PlaybookCondition | null
}

/** With every optional member filled in. */
export interface Playbook {
  readonly title: string
  readonly description: string | null
  readonly subject_types: readonly SubjectType[]
  readonly typologies: readonly string[]
  /** Attributes of the subject that conditions and inputs read, declared as the inputs of a matrix are. */
  readonly facts: readonly Input[]
  readonly clocks: readonly PlaybookClock[]
  /** In the order in which they are written; `needs` decides the order in which they run. */
  readonly steps: readonly PlaybookStep[]
  readonly outcomes: readonly PlaybookOutcome[]
}

/** Whose version it is, together with its number: a tenant and the operator may both have a version 1. */
export interface PlaybookPin {
  readonly origin: 'own' | 'shared'
  readonly version: number
}

/** A published version, as an investigation pins it. */
export interface LoadedPlaybook extends PlaybookPin {
  readonly key: string
  readonly content_hash: string
  readonly content: Playbook
}
