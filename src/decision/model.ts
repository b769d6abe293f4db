/**
 * What a matrix or a rule is: the definition as people write it and as it is stored, and the findings about it. Definitions
 * name lists by key only; versions bind when something is decided.
 */

/** Where a fault is, in words for whoever wrote the definition or sent the inputs. */
export interface Finding {
  readonly code: string
  /** JSON Pointer into the definition, or into the inputs. */
  readonly pointer: string
  readonly message: string
  readonly severity: 'error' | 'warning'
  /** An input that shows the fault, where there is one. */
  readonly example?: Readonly<Record<string, unknown>>
}

/** `decimal` travels as a string ("12.50") and is held as an integer scaled by `scale` digits. */
export type InputType = 'enum' | 'integer' | 'decimal' | 'boolean' | 'date' | 'string' | 'list'

export interface Input {
  readonly name: string
  readonly title: string
  readonly type: InputType
  readonly description?: string
  readonly unit?: string
  /** Digits after the point of a decimal; 2 when absent. */
  readonly scale?: number
  /** Allowed values of an enum, or of the items of a list. */
  readonly values?: readonly string[]
  /** Allowed values are the keys of a list, or the values of one of its fields. */
  readonly one_of?: { readonly list_key: string; readonly field?: string }
  /** Inclusive; integers, decimals (as strings) and dates. */
  readonly minimum?: number | string
  readonly maximum?: number | string
  readonly max_items?: number
  /** Used, and said in the explanation, when the input is absent. Without it an absent input is a fault. */
  readonly default?: unknown
}

/** A policy value: read from the registry, or written out where it is structure and not policy. */
export type PolicyValue = number | string | boolean | ListValue
export interface ListValue {
  readonly list_key: string
  readonly key: string
  readonly field: string
}

export type OnMissing = 'fail' | { readonly default: PolicyValue; readonly reason: string }

export type HitPolicy = 'unique' | 'any' | 'first' | 'priority' | 'collect'
export type CollectOperator = 'sum' | 'min' | 'max' | 'count'

export interface DecisionRow {
  readonly key: string
  /** One unary test per column; where a value may stand, `list(list_key, key).field` takes it from a list. */
  readonly when: readonly string[]
  /** One value per output. */
  readonly then: readonly PolicyValue[]
  readonly reason_code?: string
  readonly reason?: string
}

export interface DecisionTable {
  readonly hit_policy: HitPolicy
  /** With `collect`: how the single output of all rows that fire becomes one value; absent, all are given, in row order. */
  readonly collect?: CollectOperator
  /** With `priority`: the values of the first output, most important first. */
  readonly priorities?: readonly PolicyValue[]
  /** Names of inputs, or `factor.<key>` for the score of a factor that stands earlier. */
  readonly columns: readonly string[]
  readonly outputs: readonly { readonly name: string; readonly title?: string }[]
  readonly rows: readonly DecisionRow[]
  /** Given when no row fires. Without it that is a fault, and publishing proves it cannot happen. */
  readonly otherwise?: { readonly then: readonly PolicyValue[]; readonly reason_code?: string; readonly reason: string }
}

interface FactorBase {
  readonly key: string
  readonly title: string
  /** Share of the total in basis points, for a weighted sum. */
  readonly weight_bps?: number | ListValue
  /** Plain words with {input}, {value}, {score_bps}, {list_key} in them. */
  readonly reason?: string
  readonly reason_code?: string
}
/** The entry of `list_key` whose key is the input's value gives the score; for an input of type list, the highest one. */
export interface LookupFactor extends FactorBase {
  readonly form: 'lookup'
  readonly list_key: string
  /** Inputs that make the key, in the order of the list's own key. */
  readonly inputs: readonly string[]
  readonly field: string
  readonly on_missing: OnMissing
}
/** A table whose single output is a score in basis points. */
export interface TableFactor extends FactorBase {
  readonly form: 'table'
  readonly table: DecisionTable
}
/** Whether, or how often, the input's values are keys of a list. */
export interface PresenceFactor extends FactorBase {
  readonly form: 'presence'
  readonly list_key: string
  readonly input: string
  readonly count?: boolean
  readonly present: PolicyValue
  readonly absent: PolicyValue
  /** With `count`: the most that all hits together may give. */
  readonly at_most?: PolicyValue
}
/** Each allowed value of an enum or boolean has its score. */
export interface ScoreMapFactor extends FactorBase {
  readonly form: 'score_map'
  readonly input: string
  readonly scores: Readonly<Record<string, PolicyValue>>
  readonly on_missing: OnMissing
}
export type Factor = LookupFactor | TableFactor | PresenceFactor | ScoreMapFactor

/** All conditions hold: a unary test on an input, on `factor.<key>`, or on `score`. */
export interface Trigger {
  readonly key: string
  readonly title: string
  readonly when: readonly { readonly of: string; readonly test: string }[]
  /** The outcome is at least this band. */
  readonly floor_band?: string
  readonly required_actions?: readonly string[]
  readonly reason_code: string
  readonly reason: string
}

/** Contiguous bands over 0..10000 basis points, read from a list; order is by `from_field`. */
export interface Bands {
  readonly list_key: string
  readonly band_field: string
  readonly from_field: string
  readonly to_field: string
}

export interface MatrixDefinition {
  readonly inputs: readonly Input[]
  readonly factors: readonly Factor[]
  readonly aggregation: 'weighted_sum' | 'sum' | 'max'
  readonly bands: Bands
  readonly triggers: readonly Trigger[]
}

/** A rule says hit or no hit: its table's rows are the ways to hit; `outputs` may carry a severity or the like. */
export interface RuleDefinition {
  readonly inputs: readonly Input[]
  readonly table: DecisionTable
  readonly required_actions?: readonly string[]
  readonly reason_code: string
  readonly reason: string
}

export type Definition =
  | ({ readonly family: 'matrix' } & MatrixDefinition)
  | ({ readonly family: 'rule' } & RuleDefinition)
export type DefinitionFamily = Definition['family']

/** One entry of a list as a decision sees it, with the hash that proves it. */
export interface ListEntry {
  readonly key: string
  readonly entry: Readonly<Record<string, unknown>>
  readonly hash: string
}
/** A bound list: whole when small, otherwise only the keys that were asked for before. */
export interface BoundList {
  readonly list_key: string
  readonly version: number
  readonly content_hash: string
  readonly overlay_hash: string | null
  /** Undefined: the key is not on the list. */
  get(key: string): ListEntry | undefined
  /** Every entry in key order; null where the list is too large to be held. */
  readonly all: readonly ListEntry[] | null
}
export type BoundLists = ReadonlyMap<string, BoundList>

export type Inputs = Readonly<Record<string, unknown>>

/** What a decision needs of a list: all of it, or the keys that follow from the inputs. */
export type ListNeeds = ReadonlyMap<string, 'all' | readonly string[]>

export interface FactorOutcome {
  readonly key: string
  readonly title: string
  readonly score_bps: number
  readonly weight_bps: number | null
  /** Exact, with four decimals: score × weight ÷ 10000 for a weighted sum, the score itself otherwise. */
  readonly contribution_bps: string
  readonly reason: string
  readonly reason_code: string | null
  /** What was read: names of inputs with their values. */
  readonly read: Readonly<Record<string, unknown>>
  /** Which entry of which list gave the value. */
  readonly found?: readonly {
    readonly list_key: string
    readonly key: string
    readonly field: string | null
    readonly value: unknown
  }[]
  /** Keys of the rows that fired. */
  readonly rows?: readonly string[]
  readonly defaulted?: true
}
export interface TriggerOutcome {
  readonly key: string
  readonly title: string
  readonly floor_band: string | null
  readonly required_actions: readonly string[]
  readonly reason: string
  readonly reason_code: string
}
export interface MatrixOutcome {
  readonly family: 'matrix'
  readonly score_bps: number
  /** After triggers; `scored_band` is what the score alone gives. */
  readonly band: string
  readonly scored_band: string
  readonly required_actions: readonly string[]
  readonly reason_codes: readonly string[]
}
export interface RuleOutcome {
  readonly family: 'rule'
  readonly hit: boolean
  readonly outputs: Readonly<Record<string, unknown>>
  readonly required_actions: readonly string[]
  readonly reason_codes: readonly string[]
}
export type Outcome = MatrixOutcome | RuleOutcome
export interface Explanation {
  readonly inputs: readonly { readonly name: string; readonly value: unknown; readonly defaulted: boolean }[]
  readonly factors: readonly FactorOutcome[]
  readonly triggers: readonly TriggerOutcome[]
  /** Of a rule: the rows that fired. */
  readonly rows: readonly {
    readonly key: string
    readonly reason: string | null
    readonly reason_code: string | null
  }[]
  /** The whole decision in sentences. */
  readonly summary: readonly string[]
}
/** What a list was asked and what it said: the value of a field, or with `field` null whether the key is on the list. */
export interface UsedEntry {
  readonly list_key: string
  readonly key: string
  readonly field: string | null
  readonly value: unknown
  /** Of the entry; null where the key is not on the list. */
  readonly hash: string | null
}
/** `used` holds everything read from lists, each once, in the order of use. Findings coded `input_…` point into the inputs. */
export type Decision =
  | {
      readonly ok: true
      readonly outcome: Outcome
      readonly explanation: Explanation
      readonly used: readonly UsedEntry[]
    }
  | { readonly ok: false; readonly findings: readonly Finding[] }

/**
 * One meaning of definitions, by number. A change of meaning is a new engine beside the old one, which stays so that every
 * decision replays.
 */
export interface Engine {
  readonly engine: number
  /** Structure, names, tests, references: everything that can be said without lists. */
  check(definition: unknown, family: DefinitionFamily): Finding[]
  /** Throws when `check` finds errors. */
  compile(definition: Definition): CompiledDefinition
}
export interface CompiledDefinition {
  readonly definition: Definition
  /** Every list the definition may read, sorted. */
  readonly list_keys: readonly string[]
  /** The same, and where in the definition it is read: what changes with it. */
  readonly references: readonly {
    readonly list_key: string
    readonly pointer: string
    readonly key: string | null
    readonly field: string | null
    /** Where a test compares with it: what is compared, and whether it counts the smallest unit. */
    readonly compares?: {
      readonly title: string
      readonly type: 'text' | 'boolean' | 'integer' | 'decimal' | 'date'
      readonly minor: boolean
    }
  }[]
  /** Faults of the inputs alone; empty when they may be decided on. `one_of` is checked when lists are at hand. */
  checkInputs(inputs: Inputs): Finding[]
  needs(inputs: Inputs): ListNeeds
  /** Resolves policy values and bands once per set of list versions. Faults of the lists themselves come as findings. */
  bind(lists: BoundLists): BoundDefinition | readonly Finding[]
}
export interface BoundDefinition {
  /** Microseconds; no clock, no chance, no I/O. `lists` replaces those bound, for large lists whose keys differ per decision. */
  decide(inputs: Inputs, lists?: BoundLists): Decision
}
